import * as v from 'valibot'
import { assertNone } from '../config-problems.ts'
import { configurationMap, functionSchema } from '../config-schema.ts'
import { clientSchemaWith } from '../directory/client.ts'
import { clientEntries } from '../directory/client-members.ts'
import { type MemberText, type MemberTexts, memberGroups, schemasOf, textsOf } from '../directory/member.ts'
import { type ScopeOptions, scopeEntries, scopeSchemaWith } from '../directory/scope.ts'
import { isCoreError } from '../errors/error-codes.ts'
import { reasonOfPlugin } from '../errors/oauth-error.ts'
import { jsonSchema } from '../json.ts'
import { clientMetadataNames } from './client-metadata.ts'
import type { AllFields, ErrorStatuses, Fields, SignedType } from './fields.ts'
import { type Members, memberObject, type Owned, oneOf, partKind, required, text } from './part-kind.ts'
import { discoveryMembersOf } from './plugin-metadata.ts'
import type { NamedRule, Rule } from './rule.ts'

/** Returns the rules of all plugins. @throws TypeError when a plugin has two with one id */
function pluginRules(rules: readonly Owned<Rule>[]): readonly NamedRule[] {
  const known = new Set<string>()
  return rules.map(({ plugin, part }) => {
    const id = `${plugin}:${part.id}`
    // With one id for two rules, an accepted finding of one would hide the findings of the other.
    if (known.has(id))
      throw new TypeError(`plugins: ${plugin} has two rules with the id ${part.id}; rename one of them`)
    known.add(id)
    return { ...part, id, warning: reasonOfPlugin(plugin, part.id.replaceAll('-', '_')) }
  })
}

type FieldsOfPlugins = readonly Owned<Fields>[]

/** Collects what plugins add under names of their own: each name has one owner, unless several share one value. */
function collect<T>(
  fields: FieldsOfPlugins,
  {
    what,
    valuesOf,
    isCore,
  }: {
    readonly what: string
    readonly valuesOf: (part: Fields) => Readonly<Record<string, T>> | undefined
    readonly isCore: (name: string) => boolean
  },
): readonly { readonly plugin: string; readonly name: string; readonly value: T }[] {
  const owned = new Map<string, { readonly plugin: string; readonly name: string; readonly value: T }>()
  for (const { plugin, part } of fields) {
    for (const [name, value] of Object.entries(valuesOf(part) ?? {})) {
      if (!/^[a-z]\w*$/u.test(name)) throw new TypeError(`plugins: ${plugin} has the invalid ${what} "${name}"`)
      const earlier = owned.get(name)
      // The same schema, which the plugins share, gives the member one meaning.
      if (typeof value === 'object' && value === earlier?.value) continue
      const owner = isCore(name) ? 'core' : earlier?.plugin
      if (owner !== undefined) {
        const remedy = earlier === undefined ? '' : ', or give both the same options'
        throw new TypeError(
          `plugins: ${owner} and ${plugin} both define the ${what} ${name}; remove one of them${remedy}`,
        )
      }
      owned.set(name, { plugin, name, value })
    }
  }
  return [...owned.values()]
}

function entriesOf(fields: FieldsOfPlugins, of: 'client' | 'scope', core: v.ObjectEntries): v.ObjectEntries {
  const what = `member of a ${of}`
  const members = collect(fields, {
    what,
    valuesOf: (part) => schemasOf(part[of] ?? {}),
    isCore: (name) => Object.hasOwn(core, name),
  })
  return Object.fromEntries(members.map(({ name, value }) => [name, value]))
}

/** Returns the texts of members. Plugins that share a member have one text: that of the first which has one. */
function textsIn(fields: FieldsOfPlugins, of: 'client' | 'scope'): MemberTexts {
  const texts = new Map<string, MemberText>()
  for (const { part } of fields) {
    for (const [name, text] of Object.entries(textsOf(part[of] ?? {}))) if (!texts.has(name)) texts.set(name, text)
  }
  return Object.fromEntries(texts)
}

/** @throws TypeError when two plugins declare the same type: each could then sign what clients trust the other for. */
function signedTypesIn(fields: FieldsOfPlugins): ReadonlyMap<string, SignedType> {
  const types = new Map<string, SignedType>()
  for (const { plugin, part } of fields) {
    for (const [typ, claims] of Object.entries(part.signs ?? {})) {
      const earlier = types.get(typ)
      if (earlier !== undefined)
        throw new TypeError(`plugins: ${earlier.plugin} and ${plugin} both sign ${typ}; remove one of them`)
      types.set(typ, { plugin, claims })
    }
  }
  return types
}

/** @throws TypeError when two plugins add the same name, or one replaces a name of the core. */
function allFields(fields: FieldsOfPlugins): AllFields {
  const errors = collect(fields, { what: 'error code', valuesOf: ({ errors: codes }) => codes, isCore: isCoreError })
  const clientMembers = entriesOf(fields, 'client', clientEntries)
  return {
    clientSchema: clientSchemaWith(
      clientMembers,
      fields.flatMap(({ part }) => part.checkClient ?? []),
    ),
    clientMetadata: clientMetadataNames(
      fields.map(({ plugin, part }) => ({
        plugin,
        names: part.clientMetadata ?? {},
        members: schemasOf(part.client ?? {}),
      })),
    ),
    scopeSchema: scopeSchemaWith(entriesOf(fields, 'scope', scopeEntries)),
    memberTexts: { client: textsIn(fields, 'client'), scope: textsIn(fields, 'scope') },
    pluginErrors: new Map(
      errors.map(({ name, value }) => {
        const { client, bearer } = typeof value === 'object' ? value : { client: value, bearer: value }
        // The seed, section 7: the validation endpoints respond with 400 to every refusal.
        return [name, { client, bearer, validation: 400 }]
      }),
    ),
    signedTypes: signedTypesIn(fields),
    pluginScopes: fields.flatMap(({ part }) => part.ownScopes ?? []),
    assertIssuer: (issuer) =>
      assertNone(
        fields.flatMap(({ plugin, part }) => {
          const problem = part.checkIssuer?.(issuer)
          return problem === undefined ? [] : [`plugins: ${plugin}: ${problem}`]
        }),
      ),
    rules: pluginRules(fields.flatMap(({ plugin, part: { rules = [] } }) => rules.map((part) => ({ plugin, part })))),
    discoveryWith: (endpoints) => discoveryMembersOf(fields, endpoints),
  }
}

/** The claims of users (OpenID Connect Core 1.0 section 5.1), which an identity token has if the client asks for them. */
const ofUsers =
  /^(?:(?:given_|family_|middle_|nick|preferred_user)?name|profile|picture|website|(?:email|phone_number)(?:_verified)?|gender|birthdate|zoneinfo|locale|address|updated_at)(?:#.*)?$/u

/** Whether a claim is neither one of JWTs (RFC 7519 section 4.1) nor of identity tokens, as the core issues them. */
const isDistinctive = (claim: string): boolean =>
  !ofUsers.test(claim) &&
  !/^(?:iss|sub|aud|exp|nbf|iat|jti|nonce|sid|azp|acr|amr|auth_time|(?:at|c|s)_hash|txn|idp|\w+_epochs?)$/u.test(claim)

function fieldSchemas() {
  const status = oneOf(400, 401, 403)
  const sentence = text(/^[^\n]+$/u, 'must be one line of text')
  const statuses = memberObject<ErrorStatuses>({ client: status, bearer: status })
  const schema = v.custom((value) => {
    const { kind, async } = Object(value)
    return kind === 'schema' && async === false
  }, 'must be a synchronous valibot schema')
  const declared = memberObject<MemberText & { readonly schema: unknown }>({
    schema,
    title: text(/^[^\n]{1,60}$/u, 'must be one line of at most 60 characters'),
    text: text(/^[^\n]{1,500}$/u, 'must be one line of at most 500 characters'),
    group: oneOf(...Object.keys(memberGroups)),
  })
  const entries = v.optional(
    configurationMap(v.lazy((value) => (Object.hasOwn(Object(value), 'schema') ? declared : schema))),
  )
  return {
    client: entries,
    scope: entries,
    // The directory checks the scopes.
    ownScopes: v.optional(v.array(v.custom<ScopeOptions>(() => true))),
    errors: v.optional(configurationMap(v.lazy((value) => (typeof value === 'object' ? statuses : status)))),
    metadata: v.optional(configurationMap(jsonSchema)),
    signs: v.optional(
      configurationMap(
        v.pipe(
          configurationMap(jsonSchema),
          v.check(
            (claims) => Object.keys(claims).some(isDistinctive),
            'must have a claim that identity tokens do not have',
          ),
        ),
      ),
    ),
    clientMetadata: v.optional(configurationMap(v.string('must be the name of a member'))),
    checkClient: functionSchema(),
    checkIssuer: functionSchema(),
    rules: v.optional(
      v.array(
        memberObject<Rule>({
          id: text(/^(?=.{1,50}$)[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/u, 'must be words with hyphens, such as tag-missing'),
          severity: oneOf('error', 'warning', 'info'),
          remedy: sentence,
          source: sentence,
          at: oneOf('start', 'check', 'both'),
          check: required(),
        }),
        'must be an array of rules',
      ),
    ),
  }
}

const fieldsKind = /* @__PURE__ */ partKind<Fields, AllFields>('fields', {
  title: 'fields',
  schemas: fieldSchemas,
  collect: allFields,
})

/** Returns the part of a plugin that adds members to what the core reads and publishes. */
export const defineFields = (fields: Members<Fields>): Fields => ({ ...fields, kind: 'fields', '~kind': fieldsKind })
