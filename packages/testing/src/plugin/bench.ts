import {
  type ClientOptions,
  collectParts,
  defineGrant,
  definePlugin,
  type Endpoint,
  type Grant,
  type OwnedPart,
  type PluginPart,
  type Plugins,
  type ScopeOptions,
  type UserService,
} from '@grantry/core'
import * as v from 'valibot'
import { type Credentials, sha256Of, testClient } from '../test-provider.ts'
import type { PluginCases } from './cases.ts'
import type { Findings } from './findings.ts'

/** Returns the members that are not `undefined`, which would replace a default. */
export const present = <T extends object>(members: T | undefined): Partial<T> =>
  Object.fromEntries(Object.entries(members ?? {}).filter(([, value]) => value !== undefined)) as Partial<T>

/** The grant with which the kit gets tokens of the user `alice`. */
export const kitGrantType = 'urn:grantry:testing'

const kitGrant = defineGrant({
  grantType: kitGrantType,
  params: v.object({}),
  publicClients: true,
  handle: ({ scopes }) => ({ subject: { sub: 'alice', amr: ['pwd'] }, scopes, issue: { identityToken: true } }),
})

export const otherClient: Credentials = ['other-client', 'other-client-secret']
export const disabledClient: Credentials = ['disabled-client', 'disabled-client-secret']
/** The API whose secret the kit knows. */
export const api: Credentials = ['api1', 'api1-secret']
/** A client without grant types of the plugin. */
export const limitedClient: Credentials = ['limited-client', 'limited-client-secret']
export const publicClientId = 'public-client'
/** A scope that no client may request. */
export const reservedScope = 'reserved-by-the-kit'

/** Returns the parts of one kind, with the names of their plugins. */
export const partsOf = <K extends PluginPart['kind']>(
  parts: readonly OwnedPart[],
  kind: K,
): readonly OwnedPart<Extract<PluginPart, { readonly kind: K }>>[] =>
  parts.filter(({ part }) => part.kind === kind) as readonly OwnedPart[] as ReturnType<typeof partsOf<K>>

/** The values that are the same for all providers of a test. */
export interface Bench {
  /** A new instance of the plugin, if it is a function. */
  instance(): Plugins
  readonly cases: PluginCases
  readonly findings: Findings
  readonly parts: readonly OwnedPart[]
  /** The grants that the cases use, with those of the other plugins. */
  readonly grants: readonly Grant[]
  /** The endpoints, with those of the other plugins. */
  readonly endpoints: readonly Endpoint[]
}

export function createBench(plugin: Plugins | (() => Plugins), cases: PluginCases, findings: Findings): Bench {
  const instance = typeof plugin === 'function' ? plugin : () => plugin
  const parts = collectParts(instance())
  const all = [...parts, ...collectParts(cases.plugins)]
  return {
    instance,
    cases,
    findings,
    parts,
    grants: partsOf(all, 'grant').map(({ part }) => part),
    endpoints: partsOf(all, 'endpoint').map(({ part }) => part),
  }
}

export const pluginsWith = ({ cases }: Bench, plugins: Plugins): Plugins => [
  plugins,
  cases.plugins,
  definePlugin('testing', [kitGrant]),
]

/** The scopes that endpoints require of an access token. */
const requiredScopes = ({ endpoints }: Bench): readonly string[] => endpoints.flatMap(({ scope }) => scope ?? [])

export function clientsOf(bench: Bench): readonly ClientOptions[] {
  const { cases, grants } = bench
  const common: Omit<ClientOptions, 'clientId'> = {
    scopes: [...new Set(['openid', 'profile', 'offline_access', 'api1', 'api2', ...requiredScopes(bench)])],
    redirectUris: ['https://client.example.com/callback'],
    accessTokenFormat: 'reference',
    // A retry gets the same tokens, which would look like a second success.
    refreshToken: { retryWindow: 0 },
    ...present(cases.client),
  }
  const grantTypes = [kitGrantType, ...grants.map(({ grantType }) => grantType)]
  const confidential = ([clientId, secret]: Credentials, more: Partial<ClientOptions> = {}): ClientOptions => ({
    clientId,
    secrets: [{ sha256: sha256Of(secret) }],
    grantTypes,
    ...common,
    ...more,
  })
  const forPublic = grants.filter(({ publicClients }) => publicClients === true).map(({ grantType }) => grantType)
  return [
    confidential(testClient),
    confidential(otherClient),
    confidential(disabledClient, { enabled: false }),
    confidential(limitedClient, { grantTypes: [kitGrantType] }),
    ...(forPublic.length === 0
      ? []
      : [{ ...common, clientId: publicClientId, public: true, grantTypes: [kitGrantType, ...forPublic] }]),
    ...(cases.options?.clients ?? []),
  ]
}

/** The scopes of a provider. Those of the cases replace those of the kit. */
export function scopesOf(bench: Bench): readonly ScopeOptions[] {
  const caseScopes = bench.cases.options?.scopes ?? []
  const required = requiredScopes(bench)
  const standard = ['openid', 'profile', 'email', 'address', 'phone', 'offline_access']
  const names = new Set(['api1', 'api2', reservedScope, ...required.filter((name) => !standard.includes(name))])
  const kitScopes = [...names].map((name) => ({ name, secrets: [{ sha256: sha256Of(`${name}-secret`) }] }))
  return [...kitScopes.filter(({ name }) => !caseScopes.some((scope) => scope.name === name)), ...caseScopes]
}

/** The users of a provider: `alice` with the password `alice-password`, unless the cases have others. */
export function usersOf({ cases }: Bench, isActive: () => boolean): UserService {
  const caseUsers = cases.options?.users
  return {
    authenticate: ({ username, password }) =>
      username === 'alice' && password === 'alice-password' ? { sub: 'alice' } : undefined,
    ...caseUsers,
    isActive: async (sub, question) => isActive() && ((await caseUsers?.isActive?.(sub, question)) ?? true),
  }
}
