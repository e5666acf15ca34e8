import { type Client, clientSchema } from '../directory/client.ts'
import type { MemberEntries, MemberTexts } from '../directory/member.ts'
import { type ScopeOptions, scopeSchema } from '../directory/scope.ts'
import type { PluginErrors } from '../errors/error-response.ts'
import type { JsonObject } from '../types.ts'
import type { ClientMetadataNames } from './client-metadata.ts'
import type { Endpoint } from './endpoint.ts'
import type { Defined, Owned } from './part-kind.ts'
import type { NamedRule, Rule } from './rule.ts'

/** A member of a client that does not fit the others. */
export interface ClientProblem {
  readonly member: string
  /** What the member must be, such as `must be "private_key_jwt"`. */
  readonly problem: string
}

type ErrorStatus = 400 | 401 | 403

/** The status of an error code where a client authenticates, and where an access token is presented. */
export interface ErrorStatuses {
  readonly client: ErrorStatus
  readonly bearer: ErrorStatus
}

/** The claims that JWTs must have, by their `typ`. */
export type SignedTypes = Readonly<Record<string, JsonObject>>

/** A type of JWTs that one plugin signs. */
export interface SignedType {
  readonly plugin: string
  readonly claims: JsonObject
}

/**
 * Returns what is declared of a type that a plugin signs.
 *
 * @throws TypeError (a defect in the plugin) when another plugin has declared it.
 */
export function declaredType(types: AllFields['signedTypes'], typ: string, plugin: string): SignedType | undefined {
  const declared = types.get(typ)
  if (declared !== undefined && declared.plugin !== plugin) throw new TypeError(`only ${declared.plugin} signs ${typ}`)
  return declared
}

/** Members that a plugin adds to what the core reads and publishes. It can add, but not replace. */
export interface Fields extends Defined<'fields'> {
  /**
   * Members of a client's configuration: each one a valibot schema, or a `member()`, which has texts for administrators, too.
   * Optional ones keep other clients valid. They are validated like those of the core, for arrays and client stores alike.
   * Declare their types in `ClientMembers`, with `MembersOf`. Every plugin can read them, so they must not contain secrets.
   * Two plugins can define the same member only with the same schema object.
   */
  readonly client?: MemberEntries | undefined
  /**
   * The names that these members have in metadata (RFC 7591), such as `{ dpop_bound_access_tokens: 'dpopBoundAccessTokens'
   * }`. Clients that register or describe themselves can then have them. Only for members of this part that a client may decide
   * about itself, with the same form in metadata; a name that registrations read themselves is refused.
   */
  readonly clientMetadata?: Readonly<Record<string, string>> | undefined
  /**
   * Checks the members of a client together, at startup, or when a client store returns the client. Returns the first
   * problem.
   */
  readonly checkClient?: ((client: Client) => ClientProblem | undefined) | undefined
  /** Returns why the plugin cannot work with this issuer, at startup. */
  readonly checkIssuer?: ((issuer: string) => string | undefined) | undefined
  /**
   * Finds settings that work but should change. The reasons of `startup_warning` events, and the ids of findings, follow the
   * name of the plugin.
   */
  readonly rules?: readonly Rule[] | undefined
  /**
   * The JWTs with both `sub` and `exp` that the plugin signs with `kit.sign`, by their `typ`: the claims that each must have,
   * with their values, such as the event of a logout token. At least one is none of an identity token.
   */
  readonly signs?: SignedTypes | undefined
  /** Scopes of the plugin itself, such as one of its endpoint. A client that may have one names it in its `scopes`. */
  readonly ownScopes?: readonly ScopeOptions[] | undefined
  /** Members of a scope's configuration, as those of a client. Declare their types in `ScopeMembers`. */
  readonly scope?: MemberEntries | undefined
  /**
   * Error codes with their HTTP status: one, or one for clients and one for the bearers of access tokens. Declare the
   * codes in `OAuthErrorCodes`.
   */
  readonly errors?: Readonly<Record<string, ErrorStatus | ErrorStatuses>> | undefined
  /**
   * Members of the discovery document, such as `code_challenge_methods_supported`. Arrays of strings are merged with
   * those of other plugins. Of the core's members, only `token_endpoint_auth_methods_supported` and
   * `response_modes_supported` can be extended. Any other member that is set twice is an error at startup.
   */
  readonly metadata?: JsonObject | undefined
}

/** What the plugins add to the discovery document. */
export interface DiscoveryMembers {
  /**
   * Returns the alias of an endpoint that a plugin announces.
   *
   * @see RFC 8705 section 5
   */
  aliasOf(metadataName: string | undefined): string | undefined
  /** @throws TypeError when there is an alias of an endpoint that is not among these members. */
  assertAliases(endpoints: readonly string[]): void
  /** Merges the members of the plugins, and others, into those of the core. */
  extend(core: JsonObject, more: JsonObject): JsonObject
}

/** What the plugins add to what the core reads and publishes. */
export interface AllFields {
  /** The schemas of clients and scopes, with the members that plugins add. */
  readonly clientSchema: typeof clientSchema
  readonly scopeSchema: typeof scopeSchema
  /** What administrators read about the members that plugins add. */
  readonly memberTexts: { readonly client: MemberTexts; readonly scope: MemberTexts }
  /** The members of clients that metadata can contain. */
  readonly clientMetadata: ClientMetadataNames
  readonly pluginErrors: PluginErrors
  /** The declared types of JWTs, their owners and the claims that they must have. */
  readonly signedTypes: ReadonlyMap<string, SignedType>
  /** What plugins declare as `ownScopes`, beside the scopes of the host. */
  readonly pluginScopes: readonly ScopeOptions[]
  /** @throws TypeError when a plugin cannot work with this issuer. */
  assertIssuer(issuer: string): void
  /** What plugins find. */
  readonly rules: readonly NamedRule[]
  /** @throws TypeError when two plugins set the same member, or one sets a member of the core. */
  discoveryWith(endpoints: readonly Owned<Endpoint>[]): DiscoveryMembers
}

export const noFields: AllFields = {
  clientSchema,
  scopeSchema,
  memberTexts: { client: {}, scope: {} },
  clientMetadata: new Map(),
  pluginErrors: new Map(),
  signedTypes: new Map(),
  pluginScopes: [],
  assertIssuer() {},
  rules: [],
  discoveryWith: () => ({
    aliasOf: () => undefined,
    assertAliases() {},
    extend: (core, more) => ({ ...more, ...core }),
  }),
}
