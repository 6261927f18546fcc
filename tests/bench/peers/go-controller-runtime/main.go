// A Pod controller that only measures itself, on controller-runtime. See ../README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

const seqLabel = "bench.amdahl.dev/seq"

var strip = flag.Bool("strip", false, "cache only metadata and phase, and give memory back")
var quiet = flag.Bool("quiet", false, "count events instead of printing one line for each")

func now() int64 { // CLOCK_MONOTONIC: comparable with the writer's clock, unlike Go's own
	var t unix.Timespec
	must(unix.ClockGettime(unix.CLOCK_MONOTONIC, &t))
	return t.Nano()
}

func emit(at int64, ev, fields string, values ...any) {
	fmt.Printf(`{"ev":"%s","t_ns":%d%s}`+"\n", ev, at, fmt.Sprintf(fields, values...))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

type peer struct {
	client client.Client
	events atomic.Int64
	mutex  sync.Mutex
	seen   map[ctrl.Request]struct{} // nil once every key of the first list was reconciled
	target int                       // keys in the first list; -1 until known
}

// observe runs inside the informer's event handler, as the controller's predicate.
func (p *peer) observe(object client.Object, initial bool) bool {
	at := now()
	if seq, ok := object.GetLabels()[seqLabel]; ok && !*quiet {
		emit(at, "handler", `,"seq":%s`, seq)
	} else if !initial && *quiet && p.events.Add(1)%1000 == 0 {
		emit(at, "events", `,"n":%d`, p.events.Load())
	}
	return true
}

func (p *peer) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var pod corev1.Pod // stays empty when the pod is gone
	err := p.client.Get(ctx, request.NamespacedName, &pod)
	if seq, ok := pod.Labels[seqLabel]; ok && !*quiet {
		emit(now(), "reconcile", `,"seq":%s`, seq)
	}
	p.progress(func() { p.seen[request] = struct{}{} })
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

func (p *peer) progress(step func()) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.seen != nil {
		step()
	}
	if p.seen != nil && p.target >= 0 && len(p.seen) >= p.target {
		emit(now(), "all_reconciled", `,"keys":%d`, len(p.seen))
		p.seen = nil
	}
}

func (p *peer) awaitSync(pods toolscache.SharedIndexInformer) {
	<-pods.HasSyncedChecker().Done() // not HasSynced, whose usual waiter polls every 100 ms
	at, count := now(), len(pods.GetStore().ListKeys())
	emit(at, "synced", `,"objects":%d`, count)
	p.progress(func() { p.target = count })
}

func (p *peer) reportUsage(asked <-chan os.Signal) {
	for range asked {
		var used unix.Rusage
		must(unix.Getrusage(unix.RUSAGE_SELF, &used))
		if *strip {
			debug.FreeOSMemory() // after the CPU time was read: the memory is shown at its best
		}
		status, _ := os.ReadFile("/proc/self/status")
		words := strings.Fields(string(status))
		kb := func(name string) string { return words[slices.Index(words, name)+1] }
		emit(now(), "rusage", `,"utime_us":%d,"stime_us":%d,"rss_kb":%s,"hwm_kb":%s,"events":%d`,
			used.Utime.Nano()/1000, used.Stime.Nano()/1000, kb("VmRSS:"), kb("VmHWM:"), p.events.Load())
	}
}

func slim(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok { // else it says that a pod was deleted unseen
		pod.ManagedFields, pod.Spec = nil, corev1.PodSpec{}
		pod.Status = corev1.PodStatus{Phase: pod.Status.Phase}
	}
	return object, nil
}

func main() {
	emit(now(), "start", "")
	flag.Parse() // --kubeconfig is registered by controller-runtime itself
	ctrl.SetLogger(logr.Discard())
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, unix.SIGUSR1)
	config, err := ctrl.GetConfig() // has client-side throttling off (QPS -1)
	must(err)
	options := ctrl.Options{Metrics: server.Options{BindAddress: "0"}}
	if *strip {
		options.Cache.DefaultTransform = slim
	}
	mgr, err := ctrl.NewManager(config, options)
	must(err)
	p := &peer{client: mgr.GetClient(), seen: map[ctrl.Request]struct{}{}, target: -1}
	pods, err := mgr.GetCache().GetInformer(context.Background(), &corev1.Pod{})
	must(err)
	go p.reportUsage(asked)
	go p.awaitSync(pods.(toolscache.SharedIndexInformer))
	must(ctrl.NewControllerManagedBy(mgr).
		For(&corev1.Pod{}, builder.WithPredicates(predicate.Funcs{
			CreateFunc: func(e event.CreateEvent) bool { return p.observe(e.Object, e.IsInInitialList) },
			UpdateFunc: func(e event.UpdateEvent) bool { return p.observe(e.ObjectNew, false) },
			DeleteFunc: func(e event.DeleteEvent) bool { return p.observe(e.Object, false) },
		})).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).Complete(p))
	must(mgr.Start(ctrl.SetupSignalHandler()))
}
