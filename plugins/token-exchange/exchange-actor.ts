import type { Actor, Client, Kit, Refuse } from '@grantry/core'
import * as v from 'valibot'
import { actorsIn, mayAct } from '../shared/actors.ts'
import { notExchanged, type ReadToken } from './presented.ts'

/** The issuer of a token, if it is not this provider. */
const foreignIssuerOf = ({ type, claims: { iss } }: ReadToken): string | undefined =>
  type === 'jwt' ? String(iss) : undefined

/** A token without a user identifies its client, which a `sub` alone could not distinguish from a user. */
const partyOf = ({ sub, clientId = '' }: ReadToken): Pick<Actor, 'sub' | 'clientId'> =>
  sub === undefined ? { sub: clientId, clientId } : { sub }

/** Returns the chain of actors of the new token: the new one, and those of the subject token. */
export function actorOf(subject: ReadToken, actor: ReadToken | undefined, refuse: Refuse): Actor | undefined {
  try {
    const earlier = actorsIn(subject.claims.act, foreignIssuerOf(subject), actor === undefined ? 1 : 2)
    if (actor === undefined) return earlier
    const iss = foreignIssuerOf(actor)
    return {
      ...partyOf(actor),
      ...(iss !== undefined && { iss }),
      ...(earlier !== undefined && { actor: earlier }),
    }
  } catch (error) {
    if (v.isValiError(error)) throw notExchanged('actor_chain_invalid', refuse)
    throw error
  }
}

/** RFC 8693 section 4.4. Without an actor token, the client itself is the actor. */
export function assertMayAct(subject: ReadToken, actor: ReadToken | undefined, client: Client, kit: Kit): void {
  const { may_act: named, iss } = subject.claims
  const { clientId } = client
  const party = actor?.claims ?? { iss: kit.issuer, client_id: clientId, sub: clientId }
  const isClient = actor === undefined || actor.sub === undefined
  if (named !== undefined && !mayAct(named, iss, { sub: actor?.clientId, ...party }, isClient)) {
    throw notExchanged('may_not_act', kit.refuse)
  }
}
