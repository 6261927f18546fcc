// The mirror as a program (mirror.hpp).
//
//   kubectl create configmap greeting --from-literal=hello=world
//   kubectl label configmap greeting mirror=yes
//   build/dev/examples/mirror_controller [NAMESPACE]     # uses KUBECONFIG, as kubectl does
#include "examples/mirror.hpp"
#include "examples/process.hpp"

int main(int argc, char** argv) {
  return amdahl::examples::run_example<amdahl::examples::MirrorProgram>("mirror", argc, argv);
}
