import * as v from 'valibot'
import { functionSchema } from '../config-schema.ts'
import type { OutputOf, Schema } from '../standard-schema.ts'
import type { MaybePromise } from '../types.ts'
import { requirements } from './capability.ts'
import type { Grant, GrantRequest, GrantResult, StoredKind } from './grant.ts'
import type { GrantKit } from './grant-kit.ts'
import { type Defined, flag, memberObject, oneOf, parameters, partKind, required, text } from './part-kind.ts'

const storedSchema = () =>
  memberObject<StoredKind>({
    kind: v.pipe(
      text(/^[a-z][a-z\d-]{0,29}$/u, 'must be lower-case letters, digits and hyphens'),
      v.check((kind) => kind !== 'plugin', 'is reserved'),
    ),
    redirect: flag(),
    publicClientsDemand: v.optional(v.string('must be the name of a demand')),
  })

const grantKind = /* @__PURE__ */ partKind<Grant>('grant', {
  title: 'grant',
  name: 'grantType',
  schemas: () => ({
    // RFC 6749 appendix A.10: a name of letters, digits, `-`, `.`, `_`, or a URI reference.
    grantType: text(
      /^[\x21\x23-\x5B\x5D-\x7E]{1,100}$/u,
      'must be a short name or an absolute URI of at most 100 characters',
    ),
    variant: v.optional(
      memberObject<NonNullable<Grant['variant']>>({
        parameter: v.string('must be the name of a parameter'),
        matches: required(),
      }),
    ),
    params: parameters(),
    scope: v.optional(oneOf('required', 'optional', 'ignored', 'foreign')),
    defaultScopes: functionSchema(),
    publicClients: flag(),
    withoutUser: flag(),
    refusal: v.optional(v.string('must be text')),
    refusalCode: v.optional(oneOf('invalid_grant', 'invalid_request')),
    stored: v.optional(storedSchema()),
    requires: v.optional(requirements()),
    handle: required(),
  }),
  problemOf({ defaultScopes, scope, variant, stored, requires }) {
    if (variant !== undefined && (stored ?? requires) !== undefined)
      return 'is a variant and cannot have stored or requires'
    return defaultScopes !== undefined && scope !== 'optional' && "can have defaultScopes only with scope: 'optional'"
  },
  collect: (parts) => parts,
})

/** Results that can take their scopes from a stored grant, or have none. */
type WithoutScopes =
  | { readonly redeems: readonly unknown[] }
  | { readonly continues: object }
  | { readonly assertion: object }

type ExcessIn<R> = Exclude<keyof R, keyof GrantResult>

/**
 * A result without excess members, and with scopes unless a stored grant can have them: a mistyped member, or a token,
 * does not compile. `unknown` adds nothing to an intersection; `{}` would let TypeScript accept any object.
 */
type Exactly<R extends GrantResult> = R &
  ([ExcessIn<R>] extends [never] ? unknown : { readonly [K in ExcessIn<R>]: never }) &
  ('scopes' extends keyof R ? unknown : R extends WithoutScopes ? unknown : { readonly scopes: readonly string[] })

/**
 * Defines a grant, with `params` typed by the schema.
 *
 * @example
 * const badge = defineGrant({
 *   grantType: 'urn:example:badge',
 *   params: v.object({ badge_id: v.string() }),
 *   async handle({ params, scopes }, kit) {
 *     const sub = await doors.ownerOf(params.badge_id)
 *     if (sub === undefined) throw kit.refuse('invalid_grant', 'The badge is not valid', 'unknown')
 *     return { subject: { sub, amr: ['badge'] }, scopes }
 *   },
 * })
 */
export function defineGrant<const S extends Schema, R extends GrantResult>(
  grant: Omit<Grant<S>, keyof Defined | 'handle'> & {
    handle(request: GrantRequest<OutputOf<S>>, kit: GrantKit): MaybePromise<Exactly<R>>
  },
): Grant<S> {
  return { ...grant, kind: 'grant', '~kind': grantKind }
}
