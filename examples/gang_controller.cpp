// Gangs of pods as a program (gang.hpp).
//
//   kubectl create configmap hello --from-literal=size=3 --from-literal=maxRestarts=2
//       --from-literal=command='echo rank $RANK of $WORLD_SIZE'
//   kubectl label configmap hello gang=yes
//   build/dev/examples/gang_controller [NAMESPACE]       # uses KUBECONFIG, as kubectl does
//   kubectl get configmap hello-result -o yaml           # Running, Succeeded or Failed
#include "examples/gang.hpp"
#include "examples/process.hpp"

int main(int argc, char** argv) {
  return amdahl::examples::run_example<amdahl::examples::GangProgram>("gang", argc, argv);
}
