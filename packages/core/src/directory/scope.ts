import * as v from 'valibot'
import { configurationObject, flag } from '../config-schema.ts'
import type { Optional } from '../types.ts'
import type { MemberText } from './member.ts'
import { secretNames, secretsSchema } from './secret.ts'

const strings = v.pipe(v.array(v.string('must be a string'), 'must be an array of strings'), v.readonly())

const audienceSchema = v.pipe(v.string('must be a string'), v.minLength(1, 'must not be empty'))

/** RFC 6749 section 3.3: a scope token. */
export const scopeName = /^[\x21\x23-\x5B\x5D-\x7E]+$/u

/** The members of a scope that the core defines. */
export const scopeEntries = {
  name: v.pipe(
    v.string('must be a string'),
    v.regex(scopeName, 'must be a scope name (RFC 6749 section 3.3)'),
    v.maxLength(300, 'must be at most 300 characters'),
  ),
  identity: flag(false),
  enabled: flag(true),
  /** Identity scope: the claims that userinfo returns. API scope: the user claims in access tokens for it. */
  claims: v.optional(strings, []),
  secrets: v.optional(secretsSchema, []),
  /**
   * The resource identifier: the `aud` of access tokens for this API. Several, if several APIs have a scope with this name:
   * a request has to name the one that the token is for (RFC 8707).
   */
  audience: v.optional(
    v.union(
      [audienceSchema, v.pipe(v.array(audienceSchema), v.minLength(1), v.maxLength(100), v.readonly())],
      'must be a string that is not empty, or an array of 1 to 100 such strings',
    ),
  ),
  /**
   * Whether an authorization request that names no scope asks for this one, if its client may have it and the request
   * names no other API (RFC 6749 section 3.3).
   */
  default: flag(false),
  /** Whether introspection returns all scopes of the token, not only the caller's own. */
  unrestrictedIntrospection: flag(false),
  /**
   * Epoch seconds. An authorization that was granted before does not have this scope: it was for an earlier scope
   * with the same name.
   */
  grantedSince: v.optional(
    v.pipe(
      v.number('must be a number of epoch seconds'),
      v.integer('must be a number of epoch seconds'),
      v.minValue(0, 'must be a number of epoch seconds'),
      v.maxValue(Number.MAX_SAFE_INTEGER, 'must be a number of epoch seconds'),
    ),
  ),
}

/** What administrators read about these members. Only the administration imports it, so other programs do not contain it. */
export const scopeTexts: Readonly<Record<Exclude<keyof typeof scopeEntries, 'secrets'>, MemberText>> = {
  name: {
    title: 'Name of the scope',
    text: 'Clients request it by this name, such as orders. It cannot be changed later.',
    group: 'application',
  },
  identity: {
    title: 'Claims of a user',
    text: 'It stands for claims that userinfo returns, and not for an API.',
    group: 'application',
  },
  enabled: {
    title: 'Enabled',
    text: 'No client can get a disabled scope. Tokens that have it keep working.',
    group: 'application',
  },
  claims: {
    title: 'Claims',
    text: 'What userinfo returns for it. For an API: the claims of the user in access tokens for it, such as email.',
    group: 'application',
  },
  audience: {
    title: 'Audience',
    text: 'What access tokens for this API have as aud. Several, if APIs share the scope: requests then name one as resource.',
    group: 'application',
  },
  default: {
    title: 'By default',
    text: 'A request without scopes asks for it, if the client may have it.',
    group: 'application',
  },
  unrestrictedIntrospection: {
    title: 'Introspection shows all scopes',
    text: 'Introspection shows this API every scope of a token, and not only its own.',
    group: 'security',
  },
  grantedSince: {
    title: 'Granted since',
    text: 'Epoch seconds: tokens and consents from before do not have this scope, because its name belonged to another API.',
    group: 'security',
  },
}

/** Returns the schema of a scope's configuration with the members that plugins add. */
export const scopeSchemaWith = (more: v.ObjectEntries) =>
  v.pipe(
    configurationObject({ ...scopeEntries, ...more } as typeof scopeEntries, {
      suggestions: secretNames,
      shape: ["an object such as { name: 'api1' }"],
    }),
    v.readonly(),
  )

/**
 * The schema of a scope's configuration. A scope is an API (with its own secrets for introspection) or, with `identity:
 * true`, a set of user claims. Without members of plugins.
 *
 * @see wire contract, sections 3, 5 and 7; `scopes` in the server's configuration
 */
export const scopeSchema = scopeSchemaWith({})

/** The members that plugins add to a scope, declared as those of a client (`ClientMembers`). */
// biome-ignore lint/suspicious/noEmptyInterface: plugins add members by declaration merging.
export interface ScopeMembers {}

/** The configuration of a scope. Only `name` is required. */
export interface ScopeOptions extends v.InferInput<typeof scopeSchema>, Optional<ScopeMembers> {}

/** A scope with all defaults applied, as the schema returns it. */
export type ScopeWithSecrets = v.InferOutput<typeof scopeSchema> & Readonly<ScopeMembers>

/** A scope with all defaults applied, without its secrets: see `Client`. */
export type Scope = Omit<ScopeWithSecrets, 'secrets'>

/**
 * The scopes of OpenID Connect Core section 5.4, `roles` of the seed, and `offline_access` (section 11), which requests
 * a refresh token.
 */
export const standardScopes: readonly ScopeOptions[] = [
  { name: 'openid', identity: true, claims: ['sub'] },
  {
    name: 'profile',
    identity: true,
    claims: [
      'name',
      'family_name',
      'given_name',
      'middle_name',
      'nickname',
      'preferred_username',
      'profile',
      'picture',
      'website',
      'gender',
      'birthdate',
      'zoneinfo',
      'locale',
      'updated_at',
    ],
  },
  { name: 'email', identity: true, claims: ['email', 'email_verified'] },
  { name: 'address', identity: true, claims: ['address'] },
  { name: 'phone', identity: true, claims: ['phone_number', 'phone_number_verified'] },
  { name: 'roles', identity: true, claims: ['role'] },
  { name: 'offline_access' },
]
