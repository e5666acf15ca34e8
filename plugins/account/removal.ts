import { defineTask, type EndpointKit, type PluginPart } from '@grantry/core'
import * as v from 'valibot'
import { keptRecord } from '../shared/kept-record.ts'
import { recordSet } from '../shared/record-set.ts'
import { createUserAuthorizations } from '../shared/user-authorizations.ts'
import { mailChange } from './changes.ts'
import { isMarked, keepMark, markLifetime, markUser, removalLifetime, settleMark, unmark } from './removed-user.ts'
import type { AccountServices } from './services.ts'

/** Seconds for which a removal without a mark is kept: its process died before it wrote the mark. */
const unmarkedLifetime = 3600

/**
 * The maximum number of removals that wait for another attempt. A removal waits only if a process dies, or the host
 * fails.
 */
const maxPending = 16

const schema = v.object({
  /** The request that has written it. */
  id: v.exactOptional(v.string()),
  /** Where the mail goes: nothing else knows the address afterwards. Sealed. */
  mail: v.exactOptional(v.string()),
  locale: v.string(),
})
const mailSchema = v.object({ formerAddress: v.string() })

const pendingOf = (sub: string): string => `pending removal:${sub}`
const anyPending = 'pending removals exist'
const setOf = (kit: EndpointKit) => recordSet(kit, 'pending removals', maxPending, keptRecord)

/** Ends the links, and removes what providers have stated about the user, with the tokens of theirs that are kept. */
async function endLinks(kit: EndpointKit, sub: string, { linkedProviders }: AccountServices): Promise<void> {
  const linked = linkedProviders?.linked(kit)
  for (const { id } of (await linked?.list(sub)) ?? []) await linked?.unlink(sub, id)
  await linked?.forget(sub)
}

async function endPasskeys(kit: EndpointKit, sub: string, { passkeys }: AccountServices): Promise<void> {
  if (passkeys?.reset !== undefined) await passkeys.reset(sub, kit)
  else for (const { id } of (await passkeys?.list(sub, kit)) ?? []) await passkeys?.remove(sub, id, kit)
}

/** Removes the records about applications. A revocation only makes them ineffective. */
async function forgetApplications(kit: EndpointKit, sub: string, { consents }: AccountServices): Promise<void> {
  await consents.forget(kit, sub)
  await createUserAuthorizations(kit).forget(sub)
}

async function endSessions(kit: EndpointKit, sub: string, { sessions }: AccountServices): Promise<void> {
  await kit.revoke({ subject: sub })
  await sessions.endAll(kit, sub)
}

/** Calls the function that removes the account. `false` if the host refuses. */
async function removeAccount(kit: EndpointKit, sub: string, services: AccountServices): Promise<boolean> {
  const { removeUser, accounts } = services
  const remove = () => (removeUser === undefined ? accounts?.remove?.(sub) : removeUser(sub))
  try {
    return (await kit.callHost('account.removeUser', remove)) !== 'refused' || removeUser === undefined
  } catch (error) {
    // Ends them now: the host can fail for days, and sessions and tokens of the user must not remain valid as long.
    await endSessions(kit, sub, services)
    throw error
  }
}

/**
 * Removes everything of a marked user. Each step can be repeated. The account comes first: without it, no password is
 * right, so a user whose removal is incomplete cannot sign in.
 *
 * @returns `false` if the host refuses
 */
async function removeAll(kit: EndpointKit, sub: string, services: AccountServices): Promise<boolean> {
  const { secondFactors } = services
  if (!(await removeAccount(kit, sub, services))) return false
  await endSessions(kit, sub, services)
  await endPasskeys(kit, sub, services)
  await endLinks(kit, sub, services)
  await secondFactors?.remove(sub, kit)
  // Comes after the revocation: only ended authorizations may leave the list.
  await forgetApplications(kit, sub, services)
  await kit.revoke({ subject: sub })
  return true
}

/** Whether the user was removed, and nothing waits: the form was sent twice. */
const isComplete = async (kit: EndpointKit, sub: string): Promise<boolean> =>
  (await isMarked(kit, sub)) && (await kit.records.get(pendingOf(sub), schema)) === undefined

async function forget(kit: EndpointKit, sub: string): Promise<void> {
  await kit.records.delete(pendingOf(sub))
  await setOf(kit).remove(sub)
}

/** Makes one attempt to remove a user, unless another process makes one in the same minute. */
async function attempt(kit: EndpointKit, sub: string, services: AccountServices): Promise<'done' | 'refused' | 'busy'> {
  const now = kit.now()
  const claim = `removal attempt:${sub}:${Math.floor(now / 60)}`
  if (!(await kit.records.insert(claim, true, now + 120))) return 'busy'
  const pending = await kit.records.get(pendingOf(sub), schema)
  if (pending === undefined) {
    await setOf(kit).remove(sub)
    return 'done'
  }
  if (!(await removeAll(kit, sub, services))) {
    await forget(kit, sub)
    await unmark(kit, sub)
    // The user can ask again in the same minute, and gets the same response.
    await kit.records.delete(claim)
    return 'refused'
  }
  const mail = pending.mail === undefined ? undefined : await kit.unseal(pending.mail, mailSchema)
  kit.recordUser({ type: 'account_changed', change: 'account_deleted' }, { sub })
  if (mail !== undefined)
    await mailChange('account_deleted', mail.formerAddress, { kit, locale: pending.locale }, services)
  await keepMark(kit, sub)
  await forget(kit, sub)
  return 'done'
}

/**
 * Removes a user. After the first write, the user cannot begin a session, and the task of any process completes a
 * removal that this process cannot complete.
 *
 * @param to the address for the mail about it
 * @param isStillAllowed called once the user is marked
 * @returns `ended` if that is not allowed any more; `pending` if it is not complete yet; `refused` if the host
 * refuses, or too many removals wait
 */
export async function beginRemoval(
  {
    sub,
    to,
    locale,
    isStillAllowed,
  }: {
    readonly sub: string
    readonly to: string | undefined
    readonly locale: string
    readonly isStillAllowed: () => Promise<boolean>
  },
  kit: EndpointKit,
  services: AccountServices,
): Promise<'done' | 'ended' | 'pending' | 'refused'> {
  const { records } = kit
  const id = kit.randomId()
  const expiresAt = kit.now() + removalLifetime
  const mail = to === undefined ? undefined : await kit.seal({ formerAddress: to }, expiresAt)
  async function begin(): Promise<boolean> {
    await records.put(anyPending, true, expiresAt, keptRecord)
    await records.put(pendingOf(sub), { id, locale, ...(mail !== undefined && { mail }) }, expiresAt, keptRecord)
    return setOf(kit).add(sub, kit.now() + unmarkedLifetime)
  }
  // The place in the set ends soon by itself.
  const end = () =>
    records.update(pendingOf(sub), schema, (present) =>
      present?.id === id ? { value: present, expiresAt: kit.now() + 1, ...keptRecord } : undefined,
    )
  if (await isComplete(kit, sub)) return 'ended'
  if (!(await begin())) {
    await end()
    return 'refused'
  }
  // Last: without the records before it, no process would continue.
  if (!(await markUser(kit, sub, { id, begin, end, isStillAllowed, expiresAt: expiresAt + markLifetime })))
    return 'ended'
  try {
    const outcome = await attempt(kit, sub, services)
    return outcome === 'busy' ? 'pending' : outcome
  } catch {
    // The port has recorded it; the storage fails. The task tries again.
    return 'pending'
  }
}

/** The task that ends removals. One read, while there are none. */
export const removalTask = (services: AccountServices): PluginPart =>
  defineTask(async (kit) => {
    if ((await kit.records.get(anyPending, v.boolean())) !== true) return
    let failure: unknown
    for (const sub of await setOf(kit).list()) {
      try {
        const state = await settleMark(kit, sub)
        // A process died before it decided the removal. The user has seen no page, and keeps the account.
        if (state === 'given up') await forget(kit, sub)
        if (state !== 'decided') continue
        await setOf(kit).extend(sub, kit.now() + removalLifetime)
        await attempt(kit, sub, services)
      } catch (error) {
        failure = error
      }
    }
    if (failure !== undefined) throw failure
  })
