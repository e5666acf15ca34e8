using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "items", disk = (path = "cloudflare-worker/dist/items", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:3000", http = (), service = "main")],
);

const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "dist/worker.js")],
  compatibilityDate = "2026-10-01",
  bindings = [
    (name = "ITEMS", durableObjectNamespace = "Item"),
    (name = "SIGNING_KEY", fromEnvironment = "SIGNING_KEY"),
    (name = "PORT", fromEnvironment = "PORT"),
  ],
  durableObjectNamespaces = [(className = "Item", uniqueKey = "grantry-items", enableSql = true)],
  # (inMemory = void) has no SQLite, and therefore no synchronous storage API.
  durableObjectStorage = (localDisk = "items"),
);
