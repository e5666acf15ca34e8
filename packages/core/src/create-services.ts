import { createAddressOf } from './abuse/address-group.ts'
import { createCredentialLimits } from './abuse/credential-limits.ts'
import { createPasswordLimits } from './abuse/password-limits.ts'
import { createValidationLimits } from './abuse/validation-limits.ts'
import { createWaitingLimit } from './abuse/waiting-limit.ts'
import { allSteps } from './config-problems.ts'
import { createClientAuthentication } from './credentials/client.ts'
import { createAuthenticateUser } from './credentials/login.ts'
import { builtInMethods } from './credentials/methods/index.ts'
import { createPasswordCheck } from './credentials/password-check.ts'
import { createScopeAuthentication } from './credentials/scope.ts'
import { createUserNames } from './credentials/user-names.ts'
import { combineClients } from './directory/client-sources.ts'
import { openClientSource, openClients } from './directory/clients.ts'
import { sharedLimits } from './directory/host-port.ts'
import { openScopes } from './directory/scopes.ts'
import { createUserClaims } from './directory/user-claims.ts'
import { openUsers } from './directory/user-service.ts'
import { createMetadata, endpointUrls, tokenEndpointUrls } from './endpoints/metadata.ts'
import { endpointPaths } from './endpoints/paths.ts'
import { createRecorder } from './events/recorder.ts'
import { createAuthorizations } from './grants/authorize.ts'
import { createCommit } from './grants/commit.ts'
import { createReadAuthorization } from './grants/contributions.ts'
import { createDemandSettlement } from './grants/demands.ts'
import { createEndpointKits } from './grants/endpoint-kit.ts'
import { createFailedProofs } from './grants/failed-proofs.ts'
import { createGrantKits } from './grants/kit.ts'
import { createMint } from './grants/mint.ts'
import { createPluginKits } from './grants/plugin-kit.ts'
import { canIssueIdentityTokens, createScopePolicy } from './grants/scope-policy.ts'
import { openKeyRing } from './keys/open-key-ring.ts'
import type { CheckedOptions } from './options.ts'
import { probeStorage } from './records/probe.ts'
import { openStore } from './records/store.ts'
import { createRegistry } from './registry/registry.ts'
import type { Runtime } from './runtime.ts'
import type { Services } from './services.ts'
import { assertConsistent, assertSignable } from './startup-checks.ts'
import { createAccessTokens } from './tokens/access-token.ts'
import { createAccessTokenClaims } from './tokens/access-token-claims.ts'
import { createAudiences } from './tokens/audience.ts'
import { createAuthorizationStatus } from './tokens/authorization-status.ts'
import { createDenyList } from './tokens/deny-list.ts'
import { createFamilies } from './tokens/family.ts'
import { createIdentityTokens } from './tokens/identity-token.ts'
import { createInspect } from './tokens/inspect.ts'
import { createJwt } from './tokens/jwt.ts'
import { createKeyProofs } from './tokens/key-proofs.ts'
import { createRevision } from './tokens/revision.ts'
import { createRevocationEpochs } from './tokens/revocation-epochs.ts'
import { createNewRevocationMark, createRequestMarks } from './tokens/revocation-mark.ts'
import { createRevoke } from './tokens/revoke.ts'
import { createStoredGrants } from './tokens/stored-grant.ts'

/** Creates the services of a provider and connects them. */
export async function createServices(options: CheckedOptions, runtime: Runtime): Promise<Services> {
  const { issuer, clockTolerance, maxHostCalls, clientTokenSubject } = options
  const hostLimits = sharedLimits({ timeLimit: options.hostTimeLimit, maxCalls: maxHostCalls, runtime })
  const registry = createRegistry([builtInMethods, options.plugins], issuer)
  const paths = endpointPaths(options, registry)
  const urls = endpointUrls(options, registry, paths)
  const [hostClients, users, scopes] = allSteps([
    () => openClients(options.clients, registry.clientSchema, hostLimits),
    () => openUsers(options.users, hostLimits),
    () => openScopes(options.scopes, registry.scopeSchema),
  ])
  const userClaims = createUserClaims(scopes, users)
  const scopePolicy = createScopePolicy(scopes, registry, options.unavailableScopes)
  assertConsistent({ clients: hostClients, scopes, users, registry })
  const openKeys = await openKeyRing(options.keys, canIssueIdentityTokens(hostClients, scopes, registry), runtime)
  await probeStorage(options.storage, runtime, options.storageTimeLimit)
  const recorder = createRecorder(options.observe, runtime, options.traceHeaders)
  const startup = recorder.start()
  const store = openStore(options.storage, {
    runtime,
    timeLimit: options.storageTimeLimit,
    onRejected: (kind, reason) => recorder.record(startup, { type: 'record_rejected', kind, reason }),
  })
  const keys = await openKeys({ issuer, clients: hostClients, clockTolerance, store, recorder })
  assertSignable(hostClients, keys)
  const revision = createRevision({ issuer, store, runtime })
  const families = createFamilies({ store, revision, runtime, recorder })
  const jwt = createJwt({ issuer, keys, clockTolerance, runtime })
  const tokenEndpoints = tokenEndpointUrls(registry, urls)
  const audiences = createAudiences(issuer, scopes)
  const limitDeps = { issuer, store, runtime, recorder, addressOf: createAddressOf(recorder) }
  const plugins = createPluginKits({ ...limitDeps, tokenEndpoints, keys, audiences, jwt, hostLimits })
  const sources = registry.clientSources.map(({ plugin, part }) => {
    const find = (clientId: string) => part.find(clientId, plugins.kitOf(plugin))
    return openClientSource(plugin, find, registry.clientSchema, hostLimits)
  })
  const clients = combineClients(hostClients, sources)
  const revocationEpochs = createRevocationEpochs({ issuer, store, revision, runtime })
  const newRevocationMark = createNewRevocationMark({ store, revision, revocationEpochs, runtime })
  const authorizationStatus = createAuthorizationStatus({ clients, users, store, families, revocationEpochs })
  const accessTokens = createAccessTokens({
    issuer,
    audiences,
    claimsOf: createAccessTokenClaims({ issuer, audiences, userClaims, clientTokenSubject }),
    store,
    families,
    denyList: createDenyList({ store, runtime }),
    revision,
    authorizationStatus,
    jwt,
    bindings: registry.bindings,
    clockTolerance,
    observed: recorder.observed,
    runtime,
  })
  const identityTokens = createIdentityTokens({
    issuer,
    userClaims,
    keys,
    jwt,
    authorizationStatus,
    observed: recorder.observed,
    runtime,
  })
  const { passwords, credentials, validation, waitingRequests } = options.abuseControl
  const names = createUserNames(runtime)
  const checkPassword = createPasswordCheck({
    users,
    maxHostCalls,
    limits: createPasswordLimits(passwords, limitDeps),
    names,
    recorder,
  })
  const storedGrants = createStoredGrants({ issuer, store, families, revocationEpochs, revision, runtime })
  const authorizations = createAuthorizations({
    issuer,
    registry,
    clients,
    scopePolicy,
    audiences,
    readAuthorization: createReadAuthorization(registry, plugins),
    store,
    families,
    newRevocationMark,
    runtime,
    recorder,
  })
  const authenticateUser = createAuthenticateUser({ users, clients, checkPassword, names, recorder })
  return {
    runtime,
    recorder,
    store,
    keys,

    registry,
    errors: {
      realm: issuer,
      pluginErrors: registry.pluginErrors,
      schemes: registry.bindings.schemes,
      exposedHeaders: registry.bindings.exposedHeaders,
    },
    clients,
    scopes,
    users,
    userClaims,

    authenticateClient: createClientAuthentication({
      methods: registry.authenticationMethods,
      kitOf: plugins.kitOf,
      clients,
      limits: createCredentialLimits(credentials, 'client', limitDeps),
      runtime,
      recorder,
    }),
    authenticateScope: createScopeAuthentication({
      methods: registry.authenticationMethods,
      scopes,
      limits: createCredentialLimits(credentials, 'scope', limitDeps),
      runtime,
      recorder,
    }),
    validationLimits: createValidationLimits(validation, limitDeps),

    scopePolicy,
    createKit: createGrantKits({
      plugins,
      clients,
      storedGrants,
      accessTokens,
      identityTokens,
      checkPassword,
      createMarks: createRequestMarks({ newRevocationMark, revocationEpochs }),
    }),
    endpointKitOf: createEndpointKits({
      issuer,
      paths,
      jwt,
      plugins,
      clients,
      users,
      scopePolicy,
      store,
      revocationEpochs,
      authorizations,
      authenticateUser,
      limitWaiting: createWaitingLimit(waitingRequests, limitDeps),
    }),
    mint: createMint({
      issuer,
      registry,
      accessTokens,
      identityTokens,
      families,
      bindings: registry.bindings,
      observed: recorder.observed,
      runtime,
    }),
    settleDemands: createDemandSettlement(createFailedProofs({ store, families, runtime, recorder })),
    commit: createCommit({
      store,
      families,
      retrySecrets: keys.retrySecrets,
      runtime,
      recorder,
    }),

    audiences,
    accessTokens,
    keyProofs: createKeyProofs(registry.bindings, plugins.kitOf),
    identityTokens,
    storedGrants,
    families,

    authorizations,
    authenticateUser,
    revoke: createRevoke({ revocationEpochs, families, recorder }),
    inspect: createInspect({
      issuer,
      store,
      accessTokens,
      identityTokens,
      storedGrants,
      authorizationStatus,
      jwt,
      runtime,
    }),

    metadata: createMetadata({ clients, scopes, registry, keys }, issuer, urls, paths),
    paths,

    unrelatedScope: options.introspection.unrelatedScope,
    bodyLimit: options.bodyLimit,
  }
}
