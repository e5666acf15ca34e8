import { type Import, importsOf } from './imports-of.ts'
import type { Source } from './source-files.ts'

// The import rules of CONTRIBUTING.md.

// The layers of the core, top first. Entries on the same line are siblings.
const layers: readonly RegExp[] = [
  /^(?:index\.ts|tenants\/)/u,
  /^(?:provider|create-services|options|startup-checks|core-rules)\.ts/u,
  /^router\.ts/u,
  /^endpoints\//u,
  /^services\.ts/u,
  /^grants\//u,
  /^(?:credentials|tokens|keys)\//u,
  /^abuse\//u,
  /^parts\//u,
  /^entries\//u,
  /^(?:records|http|errors|events|directory)\//u,
  /^sealed-json\.ts/u,
  /^(?:folded-text|this-machine)\.ts/u,
  /^(?:runtime|config-schema|parse-url|punycode)\.ts/u,
  /^(?:types|config-problems|parse-time|json|promises|bounded-map|standard-schema)\.ts/u,
]

// The layers of the server, top first. Those of the same line do not import each other.
export const serverLayers: readonly (readonly RegExp[])[] = [
  [/^single-file\.ts/u],
  [/^cli\.ts/u, /^(?:index|opentelemetry)\.ts/u],
  [/^commands\//u],
  [/^declaration\//u, /^init\//u, /^completion\//u, /^login-test\//u, /^pages-preview\//u],
  [/^opening\//u],
  [/^doctor\//u],
  [/^(?:server|running-provider|listen|banner|getting-started|log)\.ts/u],
  [/^tenants\//u],
  [/^provider\//u],
  [/^administration\//u, /^reload\//u, /^demo\//u],
  [/^provider-options\//u],
  [/^users\//u],
  [/^configuration\//u],
  [/^observability\//u, /^check-rules\//u, /^accounts\//u],
  [/^adapter\.ts/u],
  [/^(?:error-message|sanitize-text|local-address|numeric|new-secret|version|counted|plugin-keys)\.ts/u],
]

/** The allowed value imports between siblings, with reasons. Type imports between siblings are always allowed. */
export const siblings: ReadonlyMap<string, string> = new Map([
  ['directory -> errors', 'a host function that does not respond results in a refusal'],
  ['errors -> http', 'a refusal is a response with the headers of every response'],
  ['http -> errors', 'the code that reads a malformed request refuses it'],
  ['records -> directory', 'a stored authorization has the subject that the host has authenticated'],
  ['records -> errors', 'an unreachable store results in a refusal'],
])

export const folderOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : path)

function coreRefuses(from: string, { target, type }: Import): boolean {
  if (target === 'valibot') return false
  if (target === 'jose' || target.startsWith('jose/')) return !type || !/^keys\//u.test(from)
  // HKDF is not part of the runtime, because it runs only once for each generation of the key ring.
  if (target.startsWith('@noble/hashes/')) return from !== 'runtime.ts' && from !== 'keys/ring-records.ts'
  if (!target.startsWith('packages/core/src/')) return true
  const to = target.slice('packages/core/src/'.length)
  const [upper, lower] = [from, to].map((path) => layers.findIndex((layer) => layer.test(path)))
  if (upper === undefined || lower === undefined || upper < 0 || lower < 0 || upper > lower) return true
  if (upper < lower || type || folderOf(from) === folderOf(to)) return false
  // The entries are one part, and the files of the provider another.
  return upper > 1 && !siblings.has(`${folderOf(from)} -> ${folderOf(to)}`)
}

export const serverHome = 'packages/server/src/'

/** Types count, too: the eight pairs of folders that imported each other did so with types. */
function serverRefuses(from: string, { target }: Import): boolean {
  if (!target.startsWith(serverHome)) return false
  const to = target.slice(serverHome.length)
  const isIn = (path: string) => (unit: RegExp) => unit.test(path)
  const [upper, lower] = [from, to].map((path) => serverLayers.findIndex((layer) => layer.some(isIn(path))))
  if (upper === undefined || lower === undefined || upper < 0 || lower < 0) return true
  return upper === lower ? !serverLayers[upper]?.some((unit) => unit.test(from) && unit.test(to)) : upper > lower
}

export const bridge = 'packages/adapters/src/http-bridge/'
const bridgeEntries = [`${bridge}index.ts`, `${bridge}portable.ts`]

/** The HTTP bridge could be published alone: it imports only `node:*`, and others import only its entries. */
const bridgeRefuses = (path: string, target: string): boolean =>
  path.startsWith(bridge)
    ? !target.startsWith(bridge) && !target.startsWith('node:')
    : target.startsWith(bridge) && !bridgeEntries.includes(target)

const driverProofs = 'packages/testing/src/drivers'

/**
 * The allowed imports from outside the own package (for a plugin: its own folder). A package that is not listed here
 * must not import anything.
 */
const outside: Readonly<Record<string, { values: RegExp; types: RegExp }>> = {
  // Plugins verify JWTs of others with jose. Tokens of this provider are validated by the core.
  plugins: {
    values: /^(?:@grantry\/core|valibot|@simplewebauthn\/server|openid-client|(?:jose|@noble\/hashes)(?:\/.+)?)$/u,
    types: /^(?:@grantry\/core|valibot|jose|openid-client|@simplewebauthn\/server)$/u,
  },
  'packages/storage-drivers': { values: /^(?:unstorage|ioredis|pg|node:\w+)(?:\/|$)/u, types: /^@grantry\/core$/u },
  // Password hashes and databases of the host. The server loads the databases on demand.
  'packages/users': {
    values: /^(?:@grantry\/(?:core|storage-drivers\/clients)|valibot|ldapts|@noble\/hashes|node:\w+)(?:\/|$)/u,
    types: /^(?:@grantry\/core|ldapts)$/u,
  },
  // Sends mails. The server loads it on demand.
  'packages/mail': { values: /^(?:@grantry\/core|valibot|nodemailer)$/u, types: /^@grantry\/core$/u },
  'packages/testing': { values: /^(?:@grantry\/core|valibot)$/u, types: /^(?:@grantry\/core|valibot)$/u },
  // The proofs for drivers start processes.
  [driverProofs]: { values: /^(?:@grantry\/core|valibot|node:\w+)$/u, types: /^(?:@grantry\/core|valibot)$/u },
  // Mounts a provider in a Worker.
  'packages/cloudflare': {
    values: /^@grantry\/(?:core|adapters\/fetch)$/u,
    types: /^@grantry\/core$/u,
  },
  'packages/adapters': { values: /^(?:@hattip\/|node:)/u, types: /^@grantry\/core$/u },
  // Pages are HTML: endpoints, sessions and form tokens belong to plugins, which also declare what a page shows.
  'packages/pages': { values: /^(?:@grantry\/core|valibot)$/u, types: /^@grantry\/plugins\/[\w-]+$/u },
  // Changes entries for commands and for the API: a rule lives once.
  'packages/administration': { values: /^(?:@grantry\/core|valibot)$/u, types: /^(?:@grantry\/core|valibot)$/u },
  // Serves APIs of any issuer, without a provider.
  'packages/resource-server': { values: /^jose(?:\/.+)?$/u, types: /^jose$/u },
  // Serves in Next.js, which it does not import: its contract is a module with exports. `/client` is a client of any provider.
  'packages/next': {
    values: /^(?:@grantry\/(?:core|adapters\/fetch|plugins\/authorization-endpoint)|jose|openid-client)$/u,
    types: /^(?:@grantry\/core|jose|openid-client)$/u,
  },
  // The server loads it on demand, and decides who may open it.
  'packages/console': { values: /^(?:@grantry\/core|node:fs\/promises)$/u, types: /^@grantry\/core$/u },
  // Has no dependency, so that `npm create` installs nothing else.
  'packages/create-grantry': { values: /^node:[\w/]+$/u, types: /^node:[\w/]+$/u },
  'packages/server': { values: /^[^.]/u, types: /^[^.]/u },
}

/** What a plugin exports. Other plugins can use that, as those of third parties do. */
const pluginEntry = /^plugins\/([\w-]+)\/\1\.ts$/u

function refuses(path: string, imported: Import): boolean {
  if (path.startsWith('packages/core/src/')) return coreRefuses(path.slice('packages/core/src/'.length), imported)
  if (path.startsWith(serverHome) && serverRefuses(path.slice(serverHome.length), imported)) return true
  if (bridgeRefuses(path, imported.target)) return true
  const parts = path.split('/')
  const home = path.startsWith('plugins/') ? `plugins/${parts[1]}/` : `packages/${parts[1]}/src/`
  if (path.startsWith('plugins/') && imported.target.startsWith('plugins/shared/')) return false
  if (/^plugins\/(?!shared\/)/u.test(path) && pluginEntry.test(imported.target)) return false
  if (imported.target.startsWith(home))
    return imported.target.startsWith(`${driverProofs}/`) && !path.startsWith(`${driverProofs}/`)
  if (/^(?:packages|plugins|\.\.)\//u.test(imported.target)) return true
  const rule =
    outside[
      path.startsWith('plugins/')
        ? 'plugins'
        : path.startsWith(`${driverProofs}/`)
          ? driverProofs
          : `packages/${parts[1]}`
    ]
  if (rule === undefined) return true
  return !rule.values.test(imported.target) && !(imported.type && rule.types.test(imported.target))
}

/** The imports that the rules refuse. */
export const violations = (sources: readonly Source[]): readonly string[] =>
  sources.flatMap((source) =>
    importsOf(source)
      .filter((imported) => refuses(source.path, imported))
      .map(({ target, type }) => `${source.path} -> ${target}${type ? ' (type)' : ''}`),
  )

/** Returns the files of one cycle, with the first repeated at the end. Type imports count. */
export function findCycle(
  sources: readonly Source[],
  entries: ReadonlyMap<string, string>,
): readonly string[] | undefined {
  const graph = new Map(
    sources.map((source) => [source.path, importsOf(source).map(({ target }) => entries.get(target) ?? target)]),
  )
  const done = new Set<string>()
  const visit = (path: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path]
    if (done.has(path)) return undefined
    for (const next of graph.get(path) ?? []) {
      const cycle = visit(next, [...way, path])
      if (cycle !== undefined) return cycle
    }
    done.add(path)
    return undefined
  }
  for (const path of graph.keys()) {
    const cycle = visit(path, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}
