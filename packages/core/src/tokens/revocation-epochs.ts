import * as v from 'valibot'
import { createBoundedMap } from '../bounded-map.ts'
import { longestLifetime } from '../configuration.ts'
import type { Json, JsonObject, MaybePromise } from '../json.ts'
import { after, allOf } from '../promises.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import { userIn } from './token-user.ts'

/** Which revocation of its client and of its subject something came after. Absent: it came before any. */
export interface Epochs {
  readonly client?: string
  readonly subject?: string
}

/**
 * Refuses everything that was issued to a client or a subject so far, with one record each: its epoch is replaced, and what carries another
 * one, or none, is refused. No clock has a part in it: what began before is dead however the clocks of servers differ, and what begins a moment
 * later lives.
 *
 * @see docs/decisions/0022-revocation-by-epochs.md
 */
export interface RevocationEpochs {
  /** What something that begins now has to carry. */
  current(clientId: string, sub: string | undefined): MaybePromise<Epochs>
  /** Begins a new epoch. Resolves only when that is as safe as the store can make it. */
  begin(kind: keyof Epochs, name: string): MaybePromise<void>
}

const recordSchema = v.object({ epoch: v.string() })
/** Nobody is given it as long as the record can be read: what is there and cannot be read refuses all that came before. */
const unreadable = { epoch: '' }

/** Seconds that the record outlives the last token, for clocks that differ. What is older has ended, and gets no successor. */
const margin = 86_400

/** Why what carries these is refused; `undefined` where it is not. A record that has ended has nothing left to refuse. */
export function outdated(carried: Epochs, current: Epochs): 'client_revoked' | 'subject_revoked' | undefined {
  if (current.client !== undefined && current.client !== carried.client) return 'client_revoked'
  if (current.subject !== undefined && current.subject !== carried.subject) return 'subject_revoked'
  return undefined
}

/** As a token carries them. Nothing where nothing was ever revoked, which is nearly everywhere. */
export const epochClaims = ({ client, subject }: Epochs): JsonObject => ({
  ...(client !== undefined && { client_epoch: client }),
  ...(subject !== undefined && { sub_epoch: subject }),
})

/** As a record of a grant keeps them: nothing, where nothing was ever revoked. */
export const recordedEpochs = (epochs: Epochs): { readonly epochs?: Epochs } =>
  epochs.client === undefined && epochs.subject === undefined ? {} : { epochs }

const none: Epochs = Object.freeze({})

/** Nearly always none: then nothing is made for it. */
const epochsOf = (client: string | undefined, subject: string | undefined): Epochs =>
  client === undefined && subject === undefined
    ? none
    : { ...(client !== undefined && { client }), ...(subject !== undefined && { subject }) }

const textOr = (claim: Json | undefined): string | undefined => (typeof claim === 'string' ? claim : undefined)

export function epochsIn({ client_epoch: client, sub_epoch: subject }: JsonObject): Epochs {
  return epochsOf(textOr(client), textOr(subject))
}

/**
 * What comes of a token that was shown is as old as that token, also when it is issued at the instant of the revocation: of the first one that is of the same client, of the same subject.
 *
 * @param shown claims of tokens that were valid a moment ago
 */
export function epochsAfter(
  shown: readonly JsonObject[],
  clientId: string,
  sub: string | undefined,
  current: Epochs,
): Epochs {
  const ofClient = shown.find(({ client_id: shownTo }) => shownTo === clientId)
  const ofSubject = sub === undefined ? undefined : shown.find((claims) => userIn(claims) === sub)
  const client = ofClient === undefined ? current.client : epochsIn(ofClient).client
  const subject = ofSubject === undefined ? current.subject : epochsIn(ofSubject).subject
  return epochsOf(client, subject)
}

export function createRevocationEpochs(deps: {
  readonly issuer: string
  readonly store: Store
  readonly runtime: Runtime
}): RevocationEpochs {
  const { issuer, store, runtime } = deps
  // The issuer is part of it: two providers on one store may both have a client `web`.
  const keyFor = (kind: keyof Epochs, name: string): string =>
    keyOf('epoch', hashOf(JSON.stringify([issuer, kind, name]), runtime))
  // Clients are few and come with every token: the hash is more than half of what a look at a store in memory costs.
  const clientKeys = createBoundedMap<string>(1000)

  function keyOfClient(clientId: string): string {
    const known = clientKeys.get(clientId)
    if (known !== undefined) return known
    const key = keyFor('client', clientId)
    clientKeys.set(clientId, key)
    return key
  }

  const epochAt = (key: string): MaybePromise<string | undefined> =>
    after(store.getMarker(key, recordSchema, unreadable), (record) => record?.epoch)

  return {
    current: (clientId, sub) =>
      after(
        allOf([epochAt(keyOfClient(clientId)), sub === undefined ? undefined : epochAt(keyFor('subject', sub))]),
        ([client, subject]) => epochsOf(client, subject),
      ),
    begin: (kind, name) =>
      store.put(
        keyFor(kind, name),
        { epoch: runtime.base64url(runtime.randomBytes(12)) },
        runtime.now() + longestLifetime + margin,
      ),
  }
}
