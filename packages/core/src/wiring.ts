import { createAbuseControl } from './abuse/abuse-control.ts'
import { createClientAuthentication } from './credentials/client.ts'
import { createScopeAuthentication } from './credentials/scope.ts'
import { createUserAuthentication } from './credentials/user.ts'
import { createUserNames } from './credentials/user-names.ts'
import { openClients } from './directory/clients.ts'
import { openScopes } from './directory/scopes.ts'
import { openUsers } from './directory/user-service.ts'
import { createRecorder } from './events/trace.ts'
import { openKeyRing } from './keys/open-key-ring.ts'
import type { CheckedOptions } from './options.ts'
import { createRegistry } from './plugin/registry.ts'
import { probeStorage } from './records/probe.ts'
import { openStore } from './records/store.ts'
import type { Runtime } from './runtime.ts'
import { assertConsistent, assertCounter, assertSignable, needsCounter } from './startup-checks.ts'
import { createAccessTokens } from './tokens/access-token.ts'
import { createCommit } from './tokens/commit.ts'
import { createDenyList } from './tokens/deny-list.ts'
import { createFailedProofs } from './tokens/failed-proofs.ts'
import { createFamilies } from './tokens/family.ts'
import { createGrantKits } from './tokens/grant-kit.ts'
import { createIdentityTokens } from './tokens/identity-token.ts'
import { createJwt } from './tokens/jwt.ts'
import { createMint } from './tokens/mint.ts'
import { createRevocationEpochs } from './tokens/revocation-epochs.ts'
import { createStoredGrants } from './tokens/stored-grant.ts'

/** Creates the parts of a provider and connects them. */
export async function wire(options: CheckedOptions, runtime: Runtime) {
  const { issuer, bodyLimit, clockTolerance, maxHostCalls } = options
  const hostLimits = { timeLimit: options.hostTimeLimit, maxCalls: maxHostCalls, runtime }
  const registry = createRegistry(options.plugins)
  const clients = openClients(options.clients, hostLimits)
  const users = openUsers(options.users, hostLimits)
  const scopes = openScopes(options.scopes)
  assertConsistent({ clients, scopes, users, registry })
  assertCounter(options)
  const openKeys = await openKeyRing(options.keys, runtime)
  await probeStorage(options.storage, runtime, options.storageTimeLimit, needsCounter(options))

  const recorder = createRecorder(options.observe, runtime, options.traceHeaders)
  const startup = recorder.start()
  const store = openStore(options.storage, {
    runtime,
    timeLimit: options.storageTimeLimit,
    onRejected: (kind, reason) => recorder.record(startup, { type: 'record_rejected', kind, reason }),
  })
  const keys = await openKeys({ issuer, clients, clockTolerance, store, recorder })
  assertSignable(clients, keys)
  const families = createFamilies({ store, runtime, recorder })
  const jwt = createJwt({ issuer, keys, clockTolerance, runtime })
  const revocationEpochs = createRevocationEpochs({ issuer, store, runtime })
  const accessTokens = createAccessTokens({
    issuer,
    clients,
    scopes,
    users,
    store,
    families,
    denyList: createDenyList({ store, runtime }),
    revocationEpochs,
    jwt,
    clientTokenSubject: options.clientTokenSubject,
    clockTolerance,
    observed: recorder.observed,
    runtime,
  })
  const identityTokens = createIdentityTokens({
    issuer,
    clients,
    users,
    families,
    keys,
    jwt,
    revocationEpochs,
    observed: recorder.observed,
    runtime,
  })
  const limits = createAbuseControl(options.abuseControl, { issuer, store, runtime, recorder })
  const names = createUserNames(runtime)
  const authenticateUser = createUserAuthentication({ users, maxHostCalls, limits: limits.passwords, names, recorder })
  const storedGrants = createStoredGrants({ issuer, store, families, revocationEpochs, runtime })
  return {
    issuer,
    users,
    bodyLimit,
    registry,
    clients,
    scopes,
    keys,
    recorder,
    store,
    runtime,
    accessTokens,
    identityTokens,
    storedGrants,
    families,
    revocationEpochs,
    jwt,
    unrelatedScope: options.introspection.unrelatedScope,
    authenticateClient: createClientAuthentication({ clients, limits: limits.clients, runtime, recorder }),
    authenticateScope: createScopeAuthentication({ scopes, limits: limits.scopes, runtime, recorder }),
    authenticateUser,
    names,
    limits,
    createKit: createGrantKits({ issuer, store, storedGrants, accessTokens, authenticateUser, runtime }),
    mint: createMint({
      issuer,
      accessTokens,
      identityTokens,
      families,
      revocationEpochs,
      observed: recorder.observed,
      runtime,
    }),
    failedProofs: createFailedProofs({ store, families, runtime, recorder }),
    commit: createCommit({ store, families, runtime, recorder }),
  }
}

/** The result of `wire`. */
export type Parts = Awaited<ReturnType<typeof wire>>
