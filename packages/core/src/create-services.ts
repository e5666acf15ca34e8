import { openLimits } from './abuse/open-limits.ts'
import { builtInMethods } from './credentials/methods.ts'
import { openCredentials } from './credentials/open-credentials.ts'
import type { EpochOf } from './credentials/user-state.ts'
import type { ClientDirectory } from './directory/client-directory.ts'
import { rememberFinds } from './directory/client-sources.ts'
import { type HostLimits, sharedLimits } from './directory/host-port.ts'
import { openDirectory } from './directory/open-directory.ts'
import { derivedFrom } from './directory/scopes.ts'
import { createMetadata, endpointUrls, tokenEndpointUrls } from './endpoints/metadata.ts'
import { endpointPaths } from './endpoints/paths.ts'
import { createRecorder, type Recorder } from './events/recorder.ts'
import { openGrants } from './grants/open-grants.ts'
import { createPluginKits } from './grants/plugin-kit.ts'
import { canIssueIdentityTokens } from './grants/scope-policy.ts'
import { createScopeRules } from './grants/scope-rules.ts'
import { openKeyRing } from './keys/open-key-ring.ts'
import type { CheckedOptions } from './options.ts'
import type { Kit } from './parts/kit.ts'
import { createRegistry, type Registry } from './parts/registry.ts'
import { after } from './promises.ts'
import { probeStorage } from './records/probe.ts'
import { openStore, type Store } from './records/store.ts'
import type { Runtime } from './runtime.ts'
import type { Services } from './services.ts'
import { assertConsistent, assertSignable, createEntryChecks, scopeProblem } from './startup-checks.ts'
import { createJwt } from './tokens/jwt.ts'
import { openTokens } from './tokens/open-tokens.ts'

function openProviderStore({ storage, storageTimeLimit }: CheckedOptions, recorder: Recorder, runtime: Runtime): Store {
  const startup = recorder.start()
  return openStore(storage, {
    runtime,
    timeLimit: storageTimeLimit,
    onRejected: (kind, reason) => recorder.record(startup, { type: 'record_rejected', kind, reason }),
  })
}

/** @throws TypeError when a hash of the host has another form: tokens that are derived from it could be guessed. */
async function assertHashes({ sha256, sha256Hex, sha512 }: Runtime): Promise<void> {
  const sample = new Uint8Array(1)
  const isHash = (bytes: unknown, length: number) => bytes instanceof Uint8Array && bytes.length === length
  const checks = {
    sha256: isHash(sha256(sample), 32),
    sha256Hex: /^[0-9a-f]{64}$/u.test(sha256Hex('')),
    sha512: isHash(await sha512(sample), 64),
  }
  for (const [name, fits] of Object.entries(checks)) {
    if (!fits) throw new TypeError(`createProvider(): runtime.${name} does not return a hash of its length`)
  }
}

/** Opens the clients of the host with those of plugins. */
function openAllClients(
  host: ClientDirectory,
  deps: {
    readonly registry: Registry
    readonly hostLimits: HostLimits
    readonly kitOf: (plugin: string) => Kit
    readonly recorder: Recorder
    readonly runtime: Runtime
  },
): ClientDirectory {
  const { registry, recorder, runtime, ...rest } = deps
  const onMalformed = (problem: string): void => recorder.record(recorder.start(), { type: 'client_skipped', problem })
  const combined = registry.withClientSources?.(host, { ...rest, schema: registry.clientSchema, onMalformed })
  return rememberFinds(combined ?? host, runtime)
}

/** Creates the services of a provider and connects them. */
export async function createServices(options: CheckedOptions, runtime: Runtime): Promise<Services> {
  const { issuer, clockTolerance, clientTokenSubject, maxHostCalls, abuseControl } = options
  const hostLimits = sharedLimits({ timeLimit: options.hostTimeLimit, maxCalls: maxHostCalls, runtime })
  const registry = createRegistry([builtInMethods, options.plugins], issuer)
  const paths = endpointPaths(options, registry)
  const urls = endpointUrls(options, registry, paths)
  const addScopes = await registry.scopeSources?.read(hostLimits, scopeProblem)
  const { hostClients, ...directory } = openDirectory(options, registry, hostLimits, addScopes)
  const { scopes, users, refusedSecrets } = directory
  assertConsistent({ clients: hostClients, scopes: scopes.current, users, registry })
  const scopeRules = derivedFrom(scopes, (present) => createScopeRules(present, options, users, registry))
  const canIdentify = canIssueIdentityTokens(hostClients, scopes.current, registry)
  const openKeys = await openKeyRing(options.keys, canIdentify, runtime)
  await assertHashes(runtime)
  await probeStorage(options.storage, runtime, options.storageTimeLimit)
  const recorder = createRecorder(options.observe, runtime, { named: options.traceHeaders, issuer })
  const store = openProviderStore(options, recorder, runtime)
  const keys = await openKeys({ issuer, clients: hostClients, clockTolerance, store, recorder })
  assertSignable(hostClients, keys)

  const shared = { issuer, store, runtime, recorder }
  const jwt = createJwt({ issuer, keys, clockTolerance, runtime })
  const tokenEndpoints = tokenEndpointUrls(registry, urls)
  const plugins = createPluginKits({ ...shared, tokenEndpoints, keys, scopeRules, jwt, hostLimits, registry })
  const { kitOf } = plugins
  const clients = openAllClients(hostClients, { registry, hostLimits, kitOf, recorder, runtime })
  const limits = openLimits(abuseControl, shared)
  const { bindings } = registry
  const host = { users, maxHostCalls, abuseControl, refusedSecrets }
  const signing = { keys, jwt, scopeRules }
  const tokens = openTokens({
    ...shared,
    ...directory,
    ...signing,
    clients,
    bindings,
    kitOf,
    clockTolerance,
    clientTokenSubject,
  })
  const epochOf: EpochOf = (sub) => after(store.getAll([tokens.revocationEpochs.ofSubject(sub)]), ([epoch]) => epoch)
  const credentials = openCredentials({ ...shared, ...host, registry, kitOf, clients, scopes, limits, epochOf })
  const grants = openGrants({
    ...shared,
    ...signing,
    paths,
    registry,
    plugins,
    clients,
    users,
    tokens,
    credentials,
    waitingRequests: abuseControl.waitingRequests,
  })
  return {
    ...shared,
    ...directory,
    ...credentials,
    ...tokens,
    ...grants,
    clients,
    keys,
    scopeRules,
    registry,
    errors: {
      realm: issuer,
      pluginErrors: registry.pluginErrors,
      schemes: bindings.schemes,
      exposedHeaders: bindings.exposedHeaders,
    },
    validationLimits: limits.validationLimits,
    metadata: derivedFrom(scopes, (present) =>
      createMetadata({ clients, scopes: present, registry, keys }, issuer, urls, paths),
    ),
    paths,
    unrelatedScope: options.introspection.unrelatedScope,
    bodyLimit: options.bodyLimit,
    ...createEntryChecks({ scopes, registry, keys }, refusedSecrets, hostLimits),
  }
}
