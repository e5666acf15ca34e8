using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "d1", worker = .d1),
    (name = "disk", disk = (path = "cloudflare-worker/dist/disk", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:3000", http = (), service = "main")],
);

const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "dist/worker.js")],
  compatibilityDate = "2026-10-01",
  bindings = [
    (name = "DB", wrapped = (moduleName = "cloudflare-internal:d1-api", innerBindings = [(name = "fetcher", service = "d1")])),
    (name = "ISSUER", fromEnvironment = "ISSUER"),
    (name = "KEY_SECRET", fromEnvironment = "KEY_SECRET"),
  ],
);

# What is behind the binding of D1 on this machine.
const d1 :Workerd.Worker = (
  modules = [(name = "d1.js", esModule = embed "dist/d1.js")],
  compatibilityDate = "2026-10-01",
  bindings = [(name = "DATABASE", durableObjectNamespace = "DatabaseObject")],
  durableObjectNamespaces = [(className = "DatabaseObject", uniqueKey = "database", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
);
