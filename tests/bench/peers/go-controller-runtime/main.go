// A Pod controller that only measures itself, on controller-runtime. See ../README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/go-logr/logr"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

const seqLabel = "bench.amdahl.dev/seq"

// The flag --kubeconfig is registered by controller-runtime itself.
var (
	strip = flag.Bool("strip", false, "cache only metadata and phase, and give memory back")
	quiet = flag.Bool("quiet", false, "count events instead of printing one line for each")
)

func now() int64 { // CLOCK_MONOTONIC: comparable with the writer's clock, unlike Go's own
	var t unix.Timespec
	must(unix.ClockGettime(unix.CLOCK_MONOTONIC, &t))
	return t.Nano()
}

func emit(at int64, ev, fields string) {
	os.Stdout.WriteString(fmt.Sprintf(`{"ev":"%s","t_ns":%d%s}`+"\n", ev, at, fields))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

type peer struct {
	client client.Client
	events atomic.Int64

	mutex  sync.Mutex
	seen   map[types.NamespacedName]struct{} // nil once every key of the first list was reconciled
	target int                               // keys in the first list; -1 until known
}

// observe runs inside the informer's event handler, as the controller's predicate.
func (p *peer) observe(object client.Object, initial bool) bool {
	at := now()
	if *quiet {
		if !initial {
			if n := p.events.Add(1); n%1000 == 0 {
				emit(at, "events", fmt.Sprintf(`,"n":%d`, n))
			}
		}
	} else if seq, ok := object.GetLabels()[seqLabel]; ok {
		emit(at, "handler", `,"seq":`+seq)
	}
	return true
}

func (p *peer) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var pod corev1.Pod
	if err := p.client.Get(ctx, request.NamespacedName, &pod); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if seq, ok := pod.Labels[seqLabel]; ok && !*quiet {
		emit(now(), "reconcile", `,"seq":`+seq)
	}
	p.progress(func() { p.seen[request.NamespacedName] = struct{}{} })
	return ctrl.Result{}, nil
}

func (p *peer) progress(step func()) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.seen == nil {
		return
	}
	step()
	if p.target >= 0 && len(p.seen) >= p.target {
		emit(now(), "all_reconciled", fmt.Sprintf(`,"keys":%d`, len(p.seen)))
		p.seen = nil
	}
}

func (p *peer) awaitSync(pods cache.Informer, all cache.Cache) manager.RunnableFunc {
	return func(ctx context.Context) error {
		if !all.WaitForCacheSync(ctx) {
			return ctx.Err()
		}
		at, store := now(), pods.(toolscache.SharedIndexInformer).GetStore()
		count := len(store.ListKeys())
		emit(at, "synced", fmt.Sprintf(`,"objects":%d`, count))
		p.progress(func() { p.target = count })
		return nil
	}
}

func (p *peer) usage() {
	var used unix.Rusage
	must(unix.Getrusage(unix.RUSAGE_SELF, &used))
	if *strip {
		debug.FreeOSMemory() // after the CPU time was read: the resident size is shown at its best
	}
	status, err := os.ReadFile("/proc/self/status")
	must(err)
	kb := map[string]string{}
	for _, line := range strings.Split(string(status), "\n") {
		if words := strings.Fields(line); len(words) == 3 && words[2] == "kB" {
			kb[words[0]] = words[1]
		}
	}
	emit(now(), "rusage", fmt.Sprintf(`,"utime_us":%d,"stime_us":%d,"rss_kb":%s,"hwm_kb":%s,"events":%d`,
		used.Utime.Nano()/1000, used.Stime.Nano()/1000, kb["VmRSS:"], kb["VmHWM:"], p.events.Load()))
}

func slim(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		pod.ManagedFields = nil
		pod.Spec, pod.Status = corev1.PodSpec{}, corev1.PodStatus{Phase: pod.Status.Phase}
	}
	return object, nil
}

func main() {
	emit(now(), "start", "")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	ctx := ctrl.SetupSignalHandler()
	config, err := ctrl.GetConfig() // has client-side throttling off (QPS -1)
	must(err)
	options := ctrl.Options{Metrics: server.Options{BindAddress: "0"}}
	if *strip {
		options.Cache.DefaultTransform = slim
	}
	mgr, err := ctrl.NewManager(config, options)
	must(err)
	p := &peer{client: mgr.GetClient(), seen: map[types.NamespacedName]struct{}{}, target: -1}
	pods, err := mgr.GetCache().GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
	must(err)
	must(mgr.Add(p.awaitSync(pods, mgr.GetCache())))
	must(ctrl.NewControllerManagedBy(mgr).
		For(&corev1.Pod{}, builder.WithPredicates(predicate.Funcs{
			CreateFunc: func(e event.CreateEvent) bool { return p.observe(e.Object, e.IsInInitialList) },
			UpdateFunc: func(e event.UpdateEvent) bool { return p.observe(e.ObjectNew, false) },
			DeleteFunc: func(e event.DeleteEvent) bool { return p.observe(e.Object, false) },
		})).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).Complete(p))
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			p.usage()
		}
	}()
	must(mgr.Start(ctx))
}
