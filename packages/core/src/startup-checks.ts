import { allSteps, assertNone } from './config-problems.ts'
import { assertNotRefused, type RefusedSecrets } from './directory/check-secret.ts'
import type { Client } from './directory/client.ts'
import type { ClientDirectory } from './directory/client-directory.ts'
import { openClients } from './directory/clients.ts'
import type { HostLimits } from './directory/host-port.ts'
import type { Scope } from './directory/scope.ts'
import { openScopes, type ScopeDirectory } from './directory/scopes.ts'
import { endpointNames } from './endpoints/built-in.ts'
import type { KeyRing } from './keys/key-ring.ts'
import type { Grant } from './parts/grant.ts'
import type { Registry } from './parts/registry.ts'
import type { Services } from './services.ts'
import { isProtocolClaim } from './tokens/claims.ts'

const list = (names: Iterable<string>): string => [...names].join(', ')

/** Whether a check of a plugin settles a demand for a grant type. */
export const settles = (registry: Registry, grantType: string, demand: string): boolean =>
  registry.checksOf(grantType).some(({ part }) => part.settles === demand)

/** Returns why a client that may redeem stored grants of a kind could never do so. */
function storedGrantProblems(client: Client, registry: Registry): readonly string[] {
  const { clientId, grantTypes, redirectUris } = client
  const grants = client.enabled ? grantTypes.flatMap((name) => registry.grants.get(name) ?? []) : []
  return grants.flatMap(({ grantType, stored }) => {
    if (stored === undefined || stored.kind === 'refresh') return []
    const required = registry.requiredDemand(stored.kind, client)
    return [
      ...(stored.redirect === true && redirectUris.length === 0
        ? [
            `clients: ${clientId} uses ${grantType} but has no redirectUris, so it cannot get a code; add a redirect URI`,
          ]
        : []),
      ...(required === undefined || settles(registry, grantType, required)
        ? []
        : [
            `clients: ${clientId} cannot use ${grantType}, because it requires ${required}, which no plugin checks; add the plugin that checks it`,
          ]),
    ]
  })
}

/** Returns why no authentication method accepts a client; `undefined` if one does. */
function authenticationProblem(client: Client, clients: ClientDirectory, registry: Registry): string | undefined {
  const hasSecret = clients.secretVerifierOf(client) !== undefined || clients.secretsOf(client).stored.length > 0
  const methods = registry.authenticationMethods.map(({ part }) => part)
  const { clientId, tokenEndpointAuthMethod: only } = client
  const usable = methods.filter(({ accepts }) =>
    accepts === undefined ? hasSecret && !client.public : accepts(client),
  )
  if (only !== undefined) {
    if (usable.some(({ method }) => method === only)) return undefined
    const known = methods.some(({ method }) => method === only)
    return `clients: ${clientId} has tokenEndpointAuthMethod ${only}, ${known ? 'but is not configured for it' : `which no plugin provides; known methods: ${list(methods.map(({ method }) => method))}`}`
  }
  if (usable.length > 0) return undefined
  const others = methods.filter(({ accepts, implicit }) => accepts !== undefined && !implicit)
  const orElse = others.length === 0 ? '' : `, or configure it for ${others.map(({ method }) => method).join(' or ')}`
  return `clients: ${clientId} has no usable secret; add one, or set public: true${orElse}`
}

type Checked = Pick<Services, 'clients' | 'users' | 'registry'> & { readonly scopes: ScopeDirectory }
type CheckedClients = Pick<Services, 'clients' | 'registry'> & { readonly isScope: (name: string) => boolean }

function clientProblems(client: Client, { clients, isScope, registry }: CheckedClients): readonly string[] {
  const { clientId, grantTypes } = client
  const known = registry.grants.size === 0 ? 'plugins is empty' : `known grant types: ${list(registry.grants.keys())}`
  const ofGrants = grantTypes.flatMap((grantType) => {
    const grant = registry.grants.get(grantType)
    if (grant === undefined)
      return [`clients: ${clientId} uses the grant type ${grantType}, which no plugin provides; ${known}`]
    if (!client.public || grant.publicClients === true) return []
    return [`clients: ${clientId} is public but uses ${grantType}, which requires a client with a secret`]
  })
  const ofScopes = client.scopes.flatMap((scope) =>
    !isScope(scope)
      ? [
          `clients: ${clientId} has the scope ${scope}, which is not declared in scopes; correct it, or add { name: '${scope}' } to scopes`,
        ]
      : [],
  )
  const isUsed = client.enabled && grantTypes.length > 0
  const problem = isUsed ? authenticationProblem(client, clients, registry) : undefined
  return [...ofGrants, ...ofScopes, ...(problem === undefined ? [] : [problem])]
}

/** Returns what is wrong with a scope, besides its form; `undefined` if nothing is. */
export function scopeProblem({ name, claims, identity }: Scope): string | undefined {
  const reserved = claims.find((claim) => isProtocolClaim(claim) && !(identity && claim === 'sub'))
  return reserved === undefined
    ? undefined
    : `scopes: ${name} has the claim ${reserved}, which is reserved for the protocol; remove it`
}

const scopeProblems = ({ all }: ScopeDirectory): readonly string[] => all.flatMap((scope) => scopeProblem(scope) ?? [])

/** @throws TypeError when a client contradicts the other options. */
function assertClients(checked: CheckedClients): void {
  const { clients, registry } = checked
  assertNone([
    ...clients.all.flatMap((client) => clientProblems(client, checked)),
    ...clients.all.flatMap((client) => storedGrantProblems(client, registry)),
  ])
}

/** The parts of plugins that check passwords, as errors name them. */
const passwordCheckers = ({ grants, endpoints }: Registry): readonly string[] => {
  const checks = ({ requires = [] }: Pick<Grant, 'requires'>) => requires.some(({ name }) => name === 'passwords')
  return [
    ...[...grants.values()].filter(checks).map(({ grantType }) => `the grant type ${grantType}`),
    ...endpoints.filter(({ part }) => checks(part)).map(({ plugin, part }) => `the endpoint ${part.name} of ${plugin}`),
  ]
}

/**
 * Checks that the options are consistent with each other.
 *
 * @throws TypeError with one sentence that says where the mistake is and how to fix it; `configurationProblems()` returns
 * all.
 */
export function assertConsistent(checked: Checked): void {
  const { users, registry, scopes } = checked
  const lacking = users.authenticate === undefined ? passwordCheckers(registry) : []
  const unstored = [...registry.grants.values()].filter(
    ({ stored }) => stored !== undefined && stored.kind !== 'refresh' && !registry.capabilities.has('authorizations'),
  )
  const endpoints = [...endpointNames, ...registry.endpoints.map(({ part }) => part.name)]
  allSteps([
    () => assertClients({ ...checked, isScope: (name) => scopes.find(name) !== undefined }),
    () => registry.formats.assertEndpoints(endpoints),
    () =>
      assertNone([
        ...scopeProblems(scopes),
        ...unstored.map(
          ({ grantType }) =>
            `plugins: the grant type ${grantType} redeems stored grants, but no plugin has the capability authorizations; add requires: [authorizations] to the grant`,
        ),
        ...lacking.map((part) => `users: ${part} requires authenticate()`),
      ]),
  ])
}

/**
 * Checks that a key exists for the `identityTokenAlgorithm` of every client. Without one, its first login would fail.
 *
 * @throws TypeError with one sentence that says where the mistake is and how to fix it; `configurationProblems()` returns
 * all.
 */
export function assertSignable(clients: ClientDirectory, keys: Pick<KeyRing, 'algorithms'>): void {
  assertNone(
    clients.all.flatMap(({ clientId, identityTokenAlgorithm: algorithm }) =>
      algorithm === undefined || keys.algorithms.includes(algorithm)
        ? []
        : `clients: ${clientId} has identityTokenAlgorithm ${algorithm}, but no key uses it; add ${algorithm} to the algorithms of keys`,
    ),
  )
}

/** Creates the functions that check a client and a scope as `createProvider()` checks those of the host. */
export function createEntryChecks(
  { scopes, registry, keys }: Pick<Services, 'scopes' | 'registry' | 'keys'>,
  refusedSecrets: RefusedSecrets,
  hostLimits: HostLimits,
): Pick<Services, 'checkClient' | 'checkScope'> {
  return {
    checkClient(client, moreScopes = []) {
      const clients = openClients([client], registry.clientSchema, hostLimits)
      const isScope = (name: string): boolean => scopes.current.find(name) !== undefined || moreScopes.includes(name)
      allSteps([
        () => assertClients({ clients, isScope, registry }),
        () => assertSignable(clients, keys),
        () => assertNotRefused({ clients: [client], scopes: [] }, refusedSecrets),
      ])
    },
    checkScope(scope) {
      assertNotRefused({ clients: [], scopes: [scope] }, refusedSecrets)
      assertNone(scopeProblems(openScopes([scope, ...registry.pluginScopes], registry.scopeSchema).current))
    },
  }
}
