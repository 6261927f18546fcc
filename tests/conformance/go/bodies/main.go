// Request bodies of the built-in kinds as Go clients send them.
//
//	bodies             kind -> {json, protobuf}: every field set, to a value that no other field has
//	bodies translate   a list of JSON objects on standard input -> a list of {json, protobuf}
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

// A list holds two values near the root and one below; deeper than depthMax nothing is set, which
// ends schemas that hold schemas.
const depthMax = 14
const schemaDepthMax = 2

type filler struct {
	count   int64
	schemas int
}

func (f *filler) next() int64 {
	f.count++
	return f.count
}

// special sets the types whose JSON form is their own.
func (f *filler) special(target any) bool {
	n := f.next()
	switch value := target.(type) {
	case *metav1.Time:
		*value = metav1.NewTime(time.Unix(1700000000+n, 0).UTC())
	case *metav1.MicroTime:
		*value = metav1.NewMicroTime(time.Unix(1700000000+n, n*1000).UTC())
	case *metav1.FieldsV1:
		value.Raw = []byte(fmt.Sprintf(`{"f:metadata":{"f:n%d":{}}}`, n))
	case *resource.Quantity:
		*value = resource.MustParse(fmt.Sprintf("%dMi", n))
	case *intstr.IntOrString:
		if n%2 == 0 {
			*value = intstr.FromInt32(int32(n))
		} else {
			*value = intstr.FromString(fmt.Sprintf("port-%d", n))
		}
	case *apiextensionsv1.JSON:
		value.Raw = []byte(fmt.Sprintf(`{"any":[%d,null,"x",true]}`, n))
	case *apiextensionsv1.JSONSchemaPropsOrBool:
		if n%2 == 0 {
			value.Allows = true
		} else {
			value.Allows = true
			value.Schema = &apiextensionsv1.JSONSchemaProps{Type: fmt.Sprintf("either-%d", n)}
		}
	case *apiextensionsv1.JSONSchemaPropsOrArray:
		if n%2 == 0 {
			value.Schema = &apiextensionsv1.JSONSchemaProps{Type: fmt.Sprintf("one-%d", n)}
		} else {
			value.JSONSchemas = []apiextensionsv1.JSONSchemaProps{{Type: "a"}, {Type: "b"}}
		}
	case *apiextensionsv1.JSONSchemaPropsOrStringArray:
		if n%2 == 0 {
			value.Schema = &apiextensionsv1.JSONSchemaProps{Type: fmt.Sprintf("one-%d", n)}
		} else {
			value.Property = []string{"a", "b"}
		}
	case *metav1.TypeMeta:
	default:
		return false
	}
	return true
}

func (f *filler) fill(value reflect.Value, depth int) {
	if depth > depthMax || (value.CanAddr() && f.special(value.Addr().Interface())) {
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(fmt.Sprintf("text-%d", f.next()))
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		value.SetInt(f.next())
	case reflect.Uint8:
		value.SetUint(uint64(f.next() % 256))
	case reflect.Float64:
		value.SetFloat(float64(f.next()) + 0.5)
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		f.fill(value.Elem(), depth+1)
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 2, 2))
		for i := 0; i < value.Len(); i++ {
			if i == 0 || depth < 5 || value.Index(i).Kind() != reflect.Struct {
				f.fill(value.Index(i), depth+1)
			}
		}
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		key, element := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		f.fill(key, depth+1)
		f.fill(element, depth+1)
		value.SetMapIndex(key, element)
	case reflect.Struct:
		f.fields(value, depth)
	}
}

func (f *filler) fields(value reflect.Value, depth int) {
	if value.Type() == reflect.TypeOf(apiextensionsv1.JSONSchemaProps{}) {
		if f.schemas == schemaDepthMax {
			return
		}
		f.schemas++
		defer func() { f.schemas-- }()
	}
	for i := 0; i < value.NumField(); i++ {
		if value.Type().Field(i).IsExported() {
			f.fill(value.Field(i), depth+1)
		}
	}
}

type body struct {
	JSON     json.RawMessage `json:"json"`
	Protobuf []byte          `json:"protobuf"`
}

func encode(object runtime.Object) (body, error) {
	encoder := protobuf.NewSerializer(runtime.NewScheme(), runtime.NewScheme())
	var wire bytes.Buffer
	if err := encoder.Encode(object, &wire); err != nil {
		return body{}, err
	}
	text, err := json.Marshal(object)
	return body{JSON: text, Protobuf: wire.Bytes()}, err
}

var kinds = map[string][]runtime.Object{
	"v1": {&corev1.Binding{}, &corev1.ConfigMap{}, &corev1.Endpoints{}, &corev1.Event{},
		&corev1.Namespace{}, &corev1.Node{}, &corev1.PersistentVolume{},
		&corev1.PersistentVolumeClaim{}, &corev1.Pod{}, &corev1.Secret{}, &corev1.Service{},
		&corev1.ServiceAccount{}, &metav1.DeleteOptions{}},
	"apps/v1": {&appsv1.Deployment{}, &appsv1.ReplicaSet{}, &metav1.DeleteOptions{}},
	"authentication.k8s.io/v1": {&authenticationv1.SelfSubjectReview{},
		&authenticationv1.TokenRequest{}, &authenticationv1.TokenReview{}},
	"authorization.k8s.io/v1": {&authorizationv1.LocalSubjectAccessReview{},
		&authorizationv1.SelfSubjectAccessReview{}, &authorizationv1.SelfSubjectRulesReview{},
		&authorizationv1.SubjectAccessReview{}},
	"autoscaling/v1":          {&autoscalingv1.Scale{}},
	"batch/v1":                {&batchv1.Job{}},
	"coordination.k8s.io/v1":  {&coordinationv1.Lease{}},
	"discovery.k8s.io/v1":     {&discoveryv1.EndpointSlice{}},
	"events.k8s.io/v1":        {&eventsv1.Event{}},
	"policy/v1":               {&policyv1.Eviction{}},
	"scheduling.k8s.io/v1":    {&schedulingv1.PriorityClass{}},
	"apiextensions.k8s.io/v1": {&apiextensionsv1.CustomResourceDefinition{}},
	"rbac.authorization.k8s.io/v1": {&rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{},
		&rbacv1.Role{}, &rbacv1.RoleBinding{}},
}

// record fills one object of every kind.
func record() (map[string]body, error) {
	bodies := map[string]body{}
	for apiVersion, objects := range kinds {
		for _, object := range objects {
			kind := reflect.TypeOf(object).Elem().Name()
			(&filler{}).fill(reflect.ValueOf(object).Elem(), 0)
			object.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
			made, err := encode(object)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", apiVersion, kind, err)
			}
			bodies[apiVersion+" "+kind] = made
		}
	}
	return bodies, nil
}

// translate encodes a list of JSON objects, each of which names its kind.
func translate(list []json.RawMessage) ([]body, error) {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(known); err != nil {
			return nil, err
		}
	}
	bodies := []body{}
	for _, text := range list {
		object, _, err := serializer.NewCodecFactory(known).UniversalDeserializer().Decode(text, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		made, err := encode(object)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, made)
	}
	return bodies, nil
}

func run(arguments []string) (any, error) {
	if len(arguments) == 0 {
		return record()
	}
	var list []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&list); err != nil {
		return nil, err
	}
	return translate(list)
}

func main() {
	bodies, err := run(os.Args[1:])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(bodies) // sorted by kind
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bodies: %v\n", err)
		os.Exit(1)
	}
}
