// The PyTorchJob controller of Kubeflow's training-operator in a main of our own. What differs from
// theirs: flags for the rate of requests, which they do not have, and no webhook, whose certificates
// a kubelet would have to mount. Without flags the rate and the threads are the ones they ship.
package main

import (
	"flag"
	"os"

	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	kubeflowv1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/config"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"github.com/kubeflow/training-operator/pkg/controller.v1/pytorch"
)

func run() error {
	// controller-runtime brings the flag --kubeconfig; 20 and 30 are its defaults in this version.
	qps := flag.Float64("qps", 20, "requests a second")
	burst := flag.Int("burst", 30, "requests at once")
	threads := flag.Int("threads", 1, "reconciles at once")
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseDevMode(true), zap.StacktraceLevel(zapcore.DPanicLevel)))

	config.Config.PyTorchInitContainerImage = config.PyTorchInitContainerImageDefault
	config.Config.PyTorchInitContainerTemplateFile = config.PyTorchInitContainerTemplateFileDefault
	config.Config.PyTorchInitContainerMaxTries = config.PyTorchInitContainerMaxTriesDefault
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(kubeflowv1.AddToScheme(scheme))
	utilruntime.Must(v1beta1.AddToScheme(scheme))

	cluster, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	cluster.QPS, cluster.Burst = float32(*qps), *burst
	manager, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	controller := pytorch.NewReconciler(manager, common.GenNonGangSchedulerSetupFunc())
	if err := controller.SetupWithManager(manager, *threads); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func main() {
	if err := run(); err != nil {
		ctrl.Log.Error(err, "ended")
		os.Exit(1)
	}
}
