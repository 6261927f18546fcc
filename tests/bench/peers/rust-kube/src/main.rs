//! A Pod controller that only measures itself, on kube-rs. See ../../README.md.

use std::collections::HashSet;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use futures::{StreamExt, TryStreamExt, future};
use k8s_openapi::api::core::v1::Pod;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::reflector::Store;
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client, Config, ResourceExt};
use tokio::signal::unix::{SignalKind, signal};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const SEQ_LABEL: &str = "bench.amdahl.dev/seq";

#[derive(Default)]
struct Options {
    kubeconfig: String,
    strip: bool,
    quiet: bool,
}

struct Peer {
    quiet: bool,
    store: Store<Pod>,
    events: AtomicU64,
    initial: Mutex<Option<Initial>>, // None once every key of the first list was reconciled
}

#[derive(Default)]
struct Initial {
    seen: HashSet<String>, // by uid: short, so that measuring weighs little
    target: Option<usize>,
}

/// CLOCK_MONOTONIC: comparable with the clock of the process that writes.
fn now() -> i64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

fn emit(at: i64, ev: &str, fields: &str) {
    let line = format!("{{\"ev\":\"{ev}\",\"t_ns\":{at}{fields}}}\n");
    // One write per line; a reader that went away is not this program's problem.
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
}

fn emit_seq(at: i64, ev: &str, pod: &Pod) {
    if let Some(seq) = pod.labels().get(SEQ_LABEL) {
        emit(at, ev, &format!(",\"seq\":{seq}"));
    }
}

impl Peer {
    /// The watcher yielded an event and the store already holds it.
    fn observe(&self, event: &watcher::Event<Pod>) {
        let at = now();
        let (pod, first_list) = match event {
            watcher::Event::Apply(pod) | watcher::Event::Delete(pod) => (pod, false),
            watcher::Event::InitApply(pod) => (pod, true),
            watcher::Event::InitDone => return self.synced(at),
            watcher::Event::Init => return,
        };
        if !self.quiet {
            emit_seq(at, "handler", pod);
        } else if !first_list {
            let n = self.events.fetch_add(1, Relaxed) + 1;
            if n % 1000 == 0 {
                emit(at, "events", &format!(",\"n\":{n}"));
            }
        }
    }

    /// Not by Store::wait_until_ready: the controller waits there too, and in kube 5.0 only the
    /// last of two waiters is woken.
    fn synced(&self, at: i64) {
        self.progress(|initial| {
            let count = self.store.len();
            initial.target = Some(count);
            emit(at, "synced", &format!(",\"objects\":{count}"));
        });
    }

    fn reconcile(&self, pod: &Pod) {
        if !self.quiet {
            emit_seq(now(), "reconcile", pod);
        }
        self.progress(|initial| {
            initial.seen.insert(pod.uid().unwrap_or_default());
        });
    }

    fn progress(&self, step: impl FnOnce(&mut Initial)) {
        let mut guard = self.initial.lock().unwrap();
        let Some(initial) = guard.as_mut() else { return };
        step(initial);
        if initial.target.is_some_and(|target| initial.seen.len() >= target) {
            emit(now(), "all_reconciled", &format!(",\"keys\":{}", initial.seen.len()));
            *guard = None;
        }
    }

    fn usage(&self) {
        let mut used: libc::rusage = unsafe { std::mem::zeroed() };
        unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut used) };
        let micros = |t: libc::timeval| t.tv_sec * 1_000_000 + t.tv_usec;
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let kb = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        let fields = format!(
            ",\"utime_us\":{},\"stime_us\":{},\"rss_kb\":{},\"hwm_kb\":{},\"events\":{}",
            micros(used.ru_utime),
            micros(used.ru_stime),
            kb("VmRSS:"),
            kb("VmHWM:"),
            self.events.load(Relaxed)
        );
        emit(now(), "rusage", &fields);
    }
}

fn options() -> Result<Options, Failure> {
    let mut found = Options::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.split_once('=').unwrap_or((&word, "")) {
            ("--kubeconfig", "") => found.kubeconfig = words.next().unwrap_or_default(),
            ("--kubeconfig", path) => found.kubeconfig = path.into(),
            ("--strip", "") => found.strip = true,
            ("--quiet", "") => found.quiet = true,
            _ => return Err(format!("unknown argument {word}").into()),
        }
    }
    if found.kubeconfig.is_empty() {
        return Err("--kubeconfig PATH is required".into());
    }
    Ok(found)
}

async fn on_signals(peer: Arc<Peer>) {
    let mut asked = signal(SignalKind::user_defined1()).expect("SIGUSR1 can be handled");
    while asked.recv().await.is_some() {
        peer.usage();
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    emit(now(), "start", "");
    let options = options()?;
    let (store, writer) = reflector::store();
    let peer = Arc::new(Peer {
        quiet: options.quiet,
        store: store.clone(),
        events: AtomicU64::new(0),
        initial: Mutex::new(Some(Initial::default())),
    });
    tokio::spawn(on_signals(peer.clone()));

    let file = Kubeconfig::read_from(&options.kubeconfig)?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    let pods: Api<Pod> = Api::all(Client::try_from(config)?);
    let (observer, strip) = (peer.clone(), options.strip);
    // What Controller::new builds by itself, with two stops on the way to look at the stream.
    let stream = watcher(pods, watcher::Config::default())
        .modify(move |pod| {
            if strip {
                pod.metadata.managed_fields = None;
            }
        })
        .reflect(writer)
        .inspect_ok(move |event| observer.observe(event))
        .applied_objects();

    Controller::for_stream(stream, store)
        .with_config(kube::runtime::controller::Config::default().concurrency(1))
        .shutdown_on_signal()
        .run(
            |pod: Arc<Pod>, peer: Arc<Peer>| {
                peer.reconcile(&pod);
                future::ready(Ok::<_, std::convert::Infallible>(Action::await_change()))
            },
            |_, never: &std::convert::Infallible, _| match *never {},
            peer,
        )
        .for_each(|_| future::ready(()))
        .await;
    Ok(())
}
