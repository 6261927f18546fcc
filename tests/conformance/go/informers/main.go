// client-go's informers on a server while objects come, change and go: typed ones, which ask for
// protobuf, and dynamic ones. Ends with 0 when every informer's cache is what the server has and
// every object was seen to come, change and go; prints what was counted as JSON.
//
//	informers KUBECONFIG
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	objectsBefore = 20
	objectsAfter  = 30
	deadline      = 60 * time.Second
	namespace     = "informers"
)

var widgets = schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "widgets"}
var maps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

type counts struct {
	mu                      sync.Mutex
	added, changed, removed map[string]bool
}

func (c *counts) note(to map[string]bool, object any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		fail("key of an object", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	to[key] = true
}

func (c *counts) sizes() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return map[string]int{"added": len(c.added), "changed": len(c.changed), "removed": len(c.removed)}
}

func watch(informer cache.SharedIndexInformer) *counts {
	c := &counts{added: map[string]bool{}, changed: map[string]bool{}, removed: map[string]bool{}}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { c.note(c.added, object) },
		UpdateFunc: func(_, object any) { c.note(c.changed, object) },
		DeleteFunc: func(object any) { c.note(c.removed, object) },
	})
	if err != nil {
		fail("add a handler", err)
	}
	return c
}

func fail(what string, err error) {
	fmt.Fprintf(os.Stderr, "informers: %s: %v\n", what, err)
	os.Exit(1)
}

type world struct {
	typed   kubernetes.Interface
	dynamic dynamic.Interface
}

func (w world) create(ctx context.Context, number int) {
	name := fmt.Sprintf("o-%d", number)
	meta := metav1.ObjectMeta{Name: name, Labels: map[string]string{"state": "new"}}
	if _, err := w.typed.CoreV1().ConfigMaps(namespace).Create(ctx,
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"k": "v"},
			BinaryData: map[string][]byte{"b": {0, 1, 255}}}, metav1.CreateOptions{}); err != nil {
		fail("create "+name, err)
	}
	none := false
	pod := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{AutomountServiceAccountToken: &none,
		Containers: []corev1.Container{{Name: "main", Image: "busybox"}}}}
	if _, err := w.typed.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		fail("create pod "+name, err)
	}
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "shop.example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": name}, "spec": map[string]any{"colour": "red"}}}
	if _, err := w.dynamic.Resource(widgets).Namespace(namespace).Create(ctx, widget, metav1.CreateOptions{}); err != nil {
		fail("create widget "+name, err)
	}
}

// change updates every object; the typed ones by a full update, which sends protobuf.
func (w world) change(ctx context.Context, number int) {
	name := fmt.Sprintf("o-%d", number)
	found, err := w.typed.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		fail("get "+name, err)
	}
	found.Labels["state"] = "old"
	if _, err := w.typed.CoreV1().ConfigMaps(namespace).Update(ctx, found, metav1.UpdateOptions{}); err != nil {
		fail("update "+name, err)
	}
	pod, err := w.typed.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		fail("get pod "+name, err)
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.StartTime = &metav1.Time{Time: time.Unix(1700000000, 0)}
	if _, err := w.typed.CoreV1().Pods(namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
		fail("update pod "+name, err)
	}
	widget, err := w.dynamic.Resource(widgets).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		fail("get widget "+name, err)
	}
	widget.Object["spec"].(map[string]any)["note"] = "changed"
	if _, err := w.dynamic.Resource(widgets).Namespace(namespace).Update(ctx, widget, metav1.UpdateOptions{}); err != nil {
		fail("update widget "+name, err)
	}
}

func (w world) remove(ctx context.Context, number int) {
	name := fmt.Sprintf("o-%d", number)
	now := int64(0)
	options := metav1.DeleteOptions{GracePeriodSeconds: &now}
	if err := w.typed.CoreV1().ConfigMaps(namespace).Delete(ctx, name, options); err != nil {
		fail("delete "+name, err)
	}
	if err := w.typed.CoreV1().Pods(namespace).Delete(ctx, name, options); err != nil {
		fail("delete pod "+name, err)
	}
	if err := w.dynamic.Resource(widgets).Namespace(namespace).Delete(ctx, name, options); err != nil {
		fail("delete widget "+name, err)
	}
}

func connect(path string) world {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		fail("read the kubeconfig", err)
	}
	config.QPS, config.Burst = 1000, 1000
	protobuf := rest.CopyConfig(config)
	protobuf.ContentType = "application/vnd.kubernetes.protobuf"
	protobuf.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	typed, err := kubernetes.NewForConfig(protobuf)
	if err != nil {
		fail("make a client", err)
	}
	other, err := dynamic.NewForConfig(config)
	if err != nil {
		fail("make a dynamic client", err)
	}
	return world{typed: typed, dynamic: other}
}

func main() {
	if len(os.Args) != 2 {
		fail("arguments", fmt.Errorf("usage: informers KUBECONFIG"))
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	w := connect(os.Args[1])
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := w.typed.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{}); err != nil {
		fail("create the namespace", err)
	}
	for number := 0; number < objectsBefore; number++ {
		w.create(ctx, number)
	}
	typed := informers.NewSharedInformerFactoryWithOptions(w.typed, 0, informers.WithNamespace(namespace))
	other := dynamicinformer.NewFilteredDynamicSharedInformerFactory(w.dynamic, 0, namespace, nil)
	all := map[string]cache.SharedIndexInformer{
		"pods":               typed.Core().V1().Pods().Informer(),
		"configmaps":         typed.Core().V1().ConfigMaps().Informer(),
		"dynamic configmaps": other.ForResource(maps).Informer(),
		"widgets":            other.ForResource(widgets).Informer(),
	}
	seen := map[string]*counts{}
	for name, informer := range all {
		seen[name] = watch(informer)
	}
	typed.Start(ctx.Done())
	other.Start(ctx.Done())
	for name, informer := range all {
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			fail("sync", fmt.Errorf("%s never had its first list", name))
		}
	}
	for number := objectsBefore; number < objectsBefore+objectsAfter; number++ {
		w.create(ctx, number)
	}
	total := objectsBefore + objectsAfter
	for number := 0; number < total; number++ {
		w.change(ctx, number)
	}
	for number := 0; number < total; number += 2 {
		w.remove(ctx, number)
	}
	finish(ctx, all, seen, total)
}

func finish(ctx context.Context, all map[string]cache.SharedIndexInformer, seen map[string]*counts, total int) {
	report := map[string]map[string]int{}
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (bool, error) {
		done := true
		for name, informer := range all {
			sizes := seen[name].sizes()
			sizes["kept"] = len(informer.GetStore().ListKeys())
			report[name] = sizes
			done = done && sizes["added"] == total && sizes["changed"] == total &&
				sizes["removed"] == total/2 && sizes["kept"] == total-total/2
		}
		return done, nil
	})
	text, _ := json.Marshal(report)
	fmt.Println(string(text))
	if err != nil {
		fail("stay in sync", err)
	}
}
