import {
  defineClientAuthentication,
  defineClientSource,
  defineEndpoint,
  defineErrorPage,
  defineFields,
  defineGrant,
  defineGrantCheck,
  defineHostFunctions,
  defineResponseFormat,
  defineScopeSource,
  defineTask,
  defineTokenBinding,
  hostKey,
  passwords,
} from '@grantry/core'
import * as v from 'valibot'

export type Part = Readonly<Record<string, unknown>>

const params = v.object({ word: v.string() })
const nothing = () => undefined

/** Parts of each kind, which have all members together. */
export const samples = {
  grant: [
    {
      kind: 'grant',
      grantType: 'urn:example:word',
      params,
      scope: 'optional',
      defaultScopes: () => [],
      publicClients: true,
      withoutUser: true,
      refusal: 'The word is not valid',
      refusalCode: 'invalid_request',
      stored: { kind: 'word', redirect: true, publicClientsDemand: 'proof_key' },
      requires: [passwords],
      handle: nothing,
    },
    {
      kind: 'grant',
      grantType: 'urn:example:word',
      variant: { parameter: 'word', matches: () => true },
      params,
      scope: 'foreign',
      handle: nothing,
    },
  ],
  'grant-check': [
    {
      kind: 'grant-check',
      settles: 'word',
      grantTypes: ['urn:example:word'],
      params,
      authorization: { params, check: nothing },
      check: nothing,
    },
    { kind: 'grant-check', grantTypes: 'all', params, check: nothing },
  ],
  'client-authentication': [
    {
      kind: 'client-authentication',
      method: 'word',
      consumes: ['word'],
      readsAuthorization: true,
      implicit: true,
      selective: true,
      unguessable: true,
      present: nothing,
      alternative: nothing,
      accepts: () => true,
      verify: () => true,
    },
  ],
  endpoint: [
    {
      kind: 'endpoint',
      name: 'words',
      path: '/words',
      beforeIssuerPath: true,
      metadataName: 'words_endpoint',
      methods: ['POST'],
      body: 'form',
      caller: 'client',
      cors: 'none',
      guessable: true,
      readsProofs: true,
      effects: true,
      subpaths: true,
      problems: true,
      requires: [],
      admit: nothing,
      params,
      handle: nothing,
    },
    {
      kind: 'endpoint',
      name: 'words',
      path: '/words',
      methods: ['GET'],
      caller: 'token',
      scope: 'api1',
      handle: nothing,
    },
    {
      kind: 'endpoint',
      name: 'words',
      path: '/w',
      methods: ['GET'],
      caller: 'anyone',
      readsBearer: true,
      presentError: nothing,
      handle: nothing,
    },
  ],
  'error-page': [{ kind: 'error-page', presentError: nothing }],
  'response-format': [
    {
      kind: 'response-format',
      endpoint: 'introspection',
      mediaType: 'application/word',
      signingAlgorithms: 'word_signing_alg_values_supported',
      encode: nothing,
    },
  ],
  'token-binding': [
    {
      kind: 'token-binding',
      member: 'word',
      scheme: 'Word',
      challenge: { algs: 'ES256' },
      exposedHeaders: ['word-nonce'],
      bindsRefreshTokens: () => true,
      admit: nothing,
      prove: nothing,
    },
  ],
  'client-source': [
    { kind: 'client-source', find: nothing, isOriginAllowed: nothing, matches: nothing, renew: nothing, yields: true },
  ],
  'scope-source': [{ kind: 'scope-source', list: () => [], isCurrent: () => true }],
  task: [{ kind: 'task', run: nothing }],
  'host-functions': [{ kind: 'host-functions', key: hostKey('word', 'word()'), create: nothing }],
  capability: [{ kind: 'capability', name: 'passwords', open: nothing }],
  fields: [
    {
      kind: 'fields',
      client: { word: v.optional(v.string()) },
      clientMetadata: { a_word: 'word' },
      scope: { word: v.optional(v.string()) },
      ownScopes: [{ name: 'word' }],
      signs: { 'word+jwt': { word: 'a' } },
      errors: { word_refused: { client: 400, bearer: 401 } },
      metadata: { words_supported: ['a'] },
      checkClient: nothing,
      checkIssuer: nothing,
      rules: [],
    },
  ],
} as const satisfies Readonly<Record<string, readonly Part[]>>

/** What the functions that define parts add to them. */
const kinds: Readonly<Record<string, object>> = Object.fromEntries(
  [
    defineGrant({} as never),
    defineGrantCheck({} as never),
    defineClientAuthentication({} as never),
    defineEndpoint({} as never),
    defineErrorPage(nothing as never),
    defineResponseFormat({} as never),
    defineTokenBinding({} as never),
    defineClientSource({} as never),
    defineScopeSource({} as never),
    defineTask(nothing),
    defineHostFunctions(hostKey('word', 'word()'), () => ({})),
    defineFields({}),
    passwords,
  ].map((part) => [part.kind, part['~kind']]),
)

/** The names of the members that a kind of part has. */
export const membersOf = (kind: string): readonly string[] =>
  (kinds[kind] as { readonly members: () => readonly string[] }).members()

/** Returns the part as the function of its kind would define it. */
export const defined = (part: Part): Part => ({ '~kind': kinds[String(part.kind)], ...part })

/** Returns the part with the owner of a member replaced, or the owner itself. */
export function partWith(part: Part, path: string, replace: (owner: Part) => Part, onlyOwner = false): Part {
  const [first = '', ...rest] = path.split('.')
  if (rest.length === 0) return replace(part)
  const inner = partWith((part[first] ?? {}) as Part, rest.join('.'), replace, onlyOwner)
  return onlyOwner ? inner : { ...part, [first]: inner }
}
