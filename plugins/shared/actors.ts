import { type Actor, maxActors } from '@grantry/core'
import * as v from 'valibot'

/** The claims of a presented token. */
export type Claims = Readonly<Record<string, unknown>>

const identifier = v.pipe(v.string(), v.minLength(1), v.maxLength(255))

const actSchema = v.looseObject({
  sub: identifier,
  client_id: v.optional(identifier),
  iss: v.optional(v.string()),
  act: v.optional(v.unknown()),
})

/**
 * Returns the chain of actors in the claim `act` of a token.
 *
 * @param issuer the issuer of the token if it is not this provider: `sub` is a name there, unless `iss` is present
 * @throws v.ValiError when the claim is malformed or the chain is too long.
 */
export function actorsIn(act: unknown, issuer: string | undefined, depth = 1): Actor | undefined {
  if (act === undefined) return undefined
  const {
    sub,
    client_id: clientId,
    iss = issuer,
    act: earlier,
  } = v.parse(
    v.pipe(
      actSchema,
      v.check(() => depth <= maxActors),
    ),
    act,
  )
  const actor = actorsIn(earlier, issuer, depth + 1)
  return {
    sub,
    ...(clientId !== undefined && { clientId }),
    ...(iss !== undefined && { iss }),
    ...(actor !== undefined && { actor }),
  }
}

/** Members of `may_act` that do not identify a party (RFC 8693 section 4.4). */
const notIdentity: ReadonlySet<string> = new Set(['aud', 'exp', 'iat', 'jti', 'nbf'])

/**
 * Whether the claim `may_act` of a subject token names this actor: every member that identifies a party must equal the
 * claim of the actor. Without `iss`, it names a party of the subject token's issuer. A `client_id` alone, or with an equal
 * `sub`, names a client: not its users, nor a user of it with an equal `sub`.
 *
 * @see RFC 8693 section 4.4
 */
export function mayAct(mayAct: unknown, issuer: unknown, actor: Claims, isClient: boolean): boolean {
  if (typeof mayAct !== 'object' || mayAct === null || Array.isArray(mayAct)) return false
  const { sub, client_id: clientId } = mayAct as Claims
  if (!isClient && clientId !== undefined && (sub ?? clientId) === clientId) return false
  const members = Object.entries({ iss: issuer, ...mayAct }).filter(([name]) => !notIdentity.has(name))
  const names = members.map(([name]) => name)
  return (
    (names.includes('sub') || names.includes('client_id')) && members.every(([name, value]) => actor[name] === value)
  )
}
