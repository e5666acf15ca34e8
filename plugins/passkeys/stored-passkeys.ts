import { configurationObject, type EndpointKit, type OptionsOf, parseConfiguration } from '@grantry/core'
import * as v from 'valibot'
import type { AccountPasskey, AccountPasskeys } from '../shared/account-factors.ts'
import { keptRecord } from '../shared/kept-record.ts'
import type { PasskeyCheck } from '../shared/passkey-check.ts'
import { recordSet } from '../shared/record-set.ts'
import { markRemoval, removalMark, unlessMarked } from '../shared/removal-mark.ts'
import { passkeyAlgorithms, verifyRegistration } from './register.ts'
import { verifyPasskey } from './verify.ts'

/** Passkeys in the storage of the provider, for `signIn({ passkeys })` and `accountPage({ passkeys })`. */
export interface StoredPasskeys extends PasskeyCheck, AccountPasskeys {
  reset(sub: string, kit: EndpointKit): Promise<{ readonly passkeys: number }>
}

const optionsSchema = configurationObject({
  /** The domain of the passkeys. Default: the host of the issuer. */
  rpId: v.optional(v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'))),
})

export type StoredPasskeysOptions = OptionsOf<typeof optionsSchema>

/** The passkeys of one user. Each has a slot, so that concurrent enrolments cannot exceed it. */
const maxPerUser = 20

/** Seconds for which a passkey is stored after its enrolment: ten years. */
const lifetime = 315_360_000

/** Seconds after which a slot without a passkey is free again: its process has died. */
const enrolmentTime = 60

const text = v.string()
const record = v.object({
  sub: text,
  /** How the user is shown to the user. */
  userName: text,
  publicKey: text,
  counter: v.number(),
  /**
   * Identifies the passkey in URLs and in its other records, so that these cannot belong to a later passkey with the
   * same id.
   */
  ref: text,
  at: v.number(),
  ...removalMark,
})
type Stored = v.InferOutput<typeof record>

/** A record of its own, so that a use or a new name cannot restore a passkey that has just been removed. */
const use = v.object({ counter: v.number(), at: v.number() })

const keyOf = (id: string): string => `passkey:${id}`
const useKeyOf = ({ ref }: Stored): string => `passkey use:${ref}`
const nameKeyOf = ({ ref }: Stored): string => `passkey name:${ref}`

const memberSchema = v.pipe(text, v.parseJson(), v.tuple([text, v.number()]))

/** A place among the passkeys of a user. */
interface Slot {
  readonly member: string
  readonly id: string
  readonly at: number
}

const setOf = (kit: EndpointKit, sub: string) => recordSet(kit, `passkeys of ${sub}`, maxPerUser, keptRecord)

const slotsOf = async (sub: string, kit: EndpointKit): Promise<readonly Slot[]> =>
  (await setOf(kit, sub).list()).flatMap((member) => {
    const parsed = v.safeParse(memberSchema, member)
    return parsed.success ? [{ member, id: parsed.output[0], at: parsed.output[1] }] : []
  })

/** Also returns a passkey that is being removed. */
const readAny = (id: string, kit: EndpointKit): Promise<Stored | undefined> => kit.records.get(keyOf(id), record)
const read = async (id: string, kit: EndpointKit): Promise<Stored | undefined> => unlessMarked(await readAny(id, kit))

/** Returns the passkeys of a user, the oldest first. */
async function all(sub: string, kit: EndpointKit, reader = read) {
  const slots = await slotsOf(sub, kit)
  const entries = await Promise.all(slots.map(async (slot) => ({ ...slot, stored: await reader(slot.id, kit) })))
  return entries
    .flatMap(({ stored, ...slot }) => (stored?.sub === sub ? [{ ...slot, stored }] : []))
    .sort((left, right) => left.stored.at - right.stored.at)
}

/**
 * Removes the records of a passkey, and returns whether there was one. A place that a process has left can be that of a passkey of
 * another user.
 */
async function forget(id: string, sub: string, kit: EndpointKit): Promise<boolean> {
  const stored = await readAny(id, kit)
  if (stored?.sub !== sub) return false
  await kit.records.delete(keyOf(id))
  await Promise.all([kit.records.delete(nameKeyOf(stored)), kit.records.delete(useKeyOf(stored))])
  return true
}

/**
 * Removes a passkey. Its record goes first, so that it never signs in without being listed; and again afterwards, because
 * an enrolment that has not finished can have stored it in between. Returns whether there was one.
 */
async function drop({ member, id }: Slot, sub: string, kit: EndpointKit): Promise<boolean> {
  const wasThere = await forget(id, sub, kit)
  await setOf(kit, sub).remove(member)
  return (await forget(id, sub, kit)) || wasThere
}

/** Takes a place among the passkeys of the user. */
async function place(member: string, sub: string, kit: EndpointKit, expiresAt: number): Promise<boolean> {
  const set = setOf(kit, sub)
  if (await set.insert(member, expiresAt)) return true
  const known = await all(sub, kit, readAny)
  const isAbandoned = (slot: Slot): boolean =>
    slot.at < kit.now() - enrolmentTime && !known.some((passkey) => passkey.member === slot.member)
  const abandoned = (await slotsOf(sub, kit)).filter(isAbandoned)
  await Promise.all(abandoned.map((slot) => set.remove(slot.member)))
  return abandoned.length > 0 && set.insert(member, expiresAt)
}

const add: AccountPasskeys['add'] = async ({ credential, challenge, origin, rpId, name, sub, userName }, kit) => {
  const created = await verifyRegistration(credential, { challenge, origin, rpId })
  if (created === undefined) return 'not_valid'
  const { id, publicKey, counter } = created
  const now = kit.now()
  const expiresAt = now + lifetime
  const slot = { member: JSON.stringify([id, now]), id, at: now }
  if (!(await place(slot.member, sub, kit, expiresAt))) {
    return (await readAny(id, kit)) === undefined ? 'too_many' : 'known'
  }
  const stored: Stored = { sub, userName, publicKey, counter, ref: kit.randomId(), at: now }
  // Atomic: a credential belongs to one user.
  if (!(await kit.records.insert(keyOf(id), stored, expiresAt, keptRecord))) {
    await setOf(kit, sub).remove(slot.member)
    return 'known'
  }
  await kit.records.put(nameKeyOf(stored), name, expiresAt, keptRecord)
  // A reset in between has removed the place.
  if ((await slotsOf(sub, kit)).some(({ member }) => member === slot.member)) return { id: stored.ref }
  await drop(slot, sub, kit)
  // The reset may have removed the passkey before it had a name.
  await kit.records.delete(nameKeyOf(stored))
  return 'not_valid'
}

async function viewOf({ id, stored }: { id: string; stored: Stored }, kit: EndpointKit): Promise<AccountPasskey> {
  const [name, used] = await Promise.all([
    kit.records.get(nameKeyOf(stored), text),
    kit.records.get(useKeyOf(stored), use),
  ])
  return { id: stored.ref, credentialId: id, name: name ?? '', addedAt: stored.at, usedAt: used?.at }
}

/**
 * Passkeys that users add on their account page, in the storage of the provider: at most 20 for a user.
 *
 * @throws TypeError when an option is malformed.
 */
export function storedPasskeys(options: StoredPasskeysOptions = {}): StoredPasskeys {
  const { rpId } = parseConfiguration(optionsSchema, options, 'storedPasskeys()')
  const find = async (id: string, kit: EndpointKit) => {
    const stored = await read(id, kit)
    if (stored === undefined) return undefined
    const used = await kit.records.get(useKeyOf(stored), use)
    const publicKey = Uint8Array.from(atob(stored.publicKey.replaceAll('-', '+').replaceAll('_', '/')), (letter) =>
      letter.charCodeAt(0),
    )
    return { sub: stored.sub, name: stored.userName, publicKey, counter: used?.counter ?? stored.counter }
  }
  const onUse = async (id: string, counter: number, kit: EndpointKit) => {
    const stored = await read(id, kit)
    if (stored === undefined) return
    const expiresAt = stored.at + lifetime
    await kit.records.put(useKeyOf(stored), { counter, at: kit.now() }, expiresAt, keptRecord)
  }
  const named = async (sub: string, ref: string, kit: EndpointKit) =>
    (await all(sub, kit)).find(({ stored }) => stored.ref === ref)
  return {
    rpId,
    limitsHostCalls: true,
    algorithms: passkeyAlgorithms,
    verify: (response, kit) => verifyPasskey(response, kit, { find, onUse, rpId }),
    add,
    list: async (sub, kit) => Promise.all((await all(sub, kit)).map((passkey) => viewOf(passkey, kit))),
    credentialIds: async (sub, kit) => (await all(sub, kit)).map(({ id }) => id),
    async rename(sub, ref, name, kit) {
      const passkey = await named(sub, ref, kit)
      if (passkey === undefined) return false
      await kit.records.put(nameKeyOf(passkey.stored), name, passkey.stored.at + lifetime, keptRecord)
      return true
    },
    async remove(sub, ref, kit, isStillAllowed) {
      const passkey = await named(sub, ref, kit)
      if (passkey === undefined) return false
      const isSame = (present: Stored) => present.ref === ref
      const marked = { key: keyOf(passkey.id), schema: record, isSame, endsAt: passkey.stored.at + lifetime }
      if (isStillAllowed !== undefined && !(await markRemoval(kit, marked, isStillAllowed))) return false
      await drop(passkey, sub, kit)
      return true
    },
    async reset(sub, kit) {
      const slots = await slotsOf(sub, kit)
      const dropped = await Promise.all(slots.map((slot) => drop(slot, sub, kit)))
      return { passkeys: dropped.filter((wasThere) => wasThere).length }
    },
  }
}
