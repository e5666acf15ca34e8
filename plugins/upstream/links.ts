import type { EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import { keptRecord } from '../shared/kept-record.ts'
import type { Link } from '../shared/linked-providers.ts'
import { recordSet } from '../shared/record-set.ts'
import { markLifetime, markRemoval, type RemovalCheck, removalMark, unlessMarked } from '../shared/removal-mark.ts'
import { lifetime } from './profile.ts'

const schema = v.object({
  sub: v.string(),
  provider: v.string(),
  /** The name by which the user recognizes the account at the provider. */
  name: v.string(),
  linkedAt: v.number(),
  ...removalMark,
})

/** An account at a provider that belongs to a user here. */
export type StoredLink = v.InferOutput<typeof schema>

/** The maximum number of links of one user. */
const maxLinks = 20

const keyOf = (id: string): string => `upstream link:${id}`
const setOf = (kit: EndpointKit, sub: string) => recordSet(kit, `upstream links of ${sub}`, maxLinks, keptRecord)

const firstKeyOf = ({ sha256 }: EndpointKit, sub: string, issuer: string): string =>
  `upstream first account:${sha256(JSON.stringify([sub, issuer]))}`

/**
 * Notes the account at a provider for which a user was created, that a mail address has led to the user, or that the user has
 * linked. The record stays after the link has ended. `other` if there was
 * another one, also if that happens at the same moment in another process.
 *
 * @param issuer of the configuration: a provider with several tenants has one
 */
export async function noteFirst(
  kit: EndpointKit,
  { sub, issuer }: { readonly sub: string; readonly issuer: string },
  id: string,
): Promise<'new' | 'known' | 'other'> {
  const key = firstKeyOf(kit, sub, issuer)
  if (await kit.records.insert(key, id, kit.now() + lifetime, keptRecord)) return 'new'
  return (await kit.records.get(key, v.string())) === id ? 'known' : 'other'
}

/** Forgets which accounts were the first of a user whose account ends. */
export async function forgetFirst(kit: EndpointKit, sub: string, issuers: readonly string[]): Promise<void> {
  await Promise.all(issuers.map((issuer) => kit.records.delete(firstKeyOf(kit, sub, issuer))))
}

/** Also returns a link that is marked as removed. */
const findAny = (kit: EndpointKit, id: string): Promise<StoredLink | undefined> => kit.records.get(keyOf(id), schema)

/** The links of accounts at providers to users, by the hash of `iss` and `sub`. One account belongs to one user. */
export const findLink = async (kit: EndpointKit, id: string): Promise<StoredLink | undefined> =>
  unlessMarked(await findAny(kit, id))

/** Confirms the link of a user, even if another process is removing it, or has died during the removal. */
async function confirm(kit: EndpointKit, id: string, link: StoredLink, expiresAt: number): Promise<boolean> {
  let isOwn = false
  await kit.records.update(keyOf(id), schema, (present) => {
    isOwn = present?.sub === link.sub
    return isOwn && present?.removing !== undefined ? { value: link, expiresAt, ...keptRecord } : undefined
  })
  return isOwn
}

/**
 * Links an account. `taken` if it belongs to another user, also if that happens at the same moment in another process;
 * `full` if the user has too many.
 *
 * @param isStillAllowed called before the link takes effect: with `false`, the result is `refused`. If it rejects, the
 * link never takes effect
 */
export async function insertLink(
  kit: EndpointKit,
  id: string,
  link: StoredLink,
  isStillAllowed?: RemovalCheck,
): Promise<'linked' | 'taken' | 'full' | 'refused'> {
  const expiresAt = kit.now() + lifetime
  const [first, until] =
    isStillAllowed === undefined ? [link, expiresAt] : [{ ...link, removing: kit.randomId() }, kit.now() + markLifetime]
  const isNew = await kit.records.insert(keyOf(id), first, until, keptRecord)
  if (!isNew && (await findAny(kit, id))?.sub !== link.sub) return 'taken'
  const set = setOf(kit, link.sub)
  const isListed = await set.add(id, expiresAt)
  let isAllowed = false
  try {
    isAllowed = isListed && (isStillAllowed === undefined || (await isStillAllowed()) === true)
  } finally {
    // Leaves a link that another request has confirmed.
    if (!isAllowed && isNew && (isStillAllowed === undefined || (await findLink(kit, id)) === undefined)) {
      await kit.records.delete(keyOf(id))
      await set.remove(id)
    }
  }
  if (!isAllowed) return isListed ? 'refused' : 'full'
  if (isNew && isStillAllowed === undefined) return 'linked'
  return (await confirm(kit, id, link, expiresAt)) ? 'linked' : 'taken'
}

async function linksOf(kit: EndpointKit, sub: string, find: typeof findLink): Promise<readonly Link[]> {
  const ids = await setOf(kit, sub).list()
  const links = await Promise.all(ids.map(async (id) => ({ id, link: await find(kit, id) })))
  // A process can have died between the two records.
  return links.flatMap(({ id, link }) => (link?.sub === sub ? [{ id, ...link }] : []))
}

export const listLinks = (kit: EndpointKit, sub: string) => linksOf(kit, sub, findLink)

/** Returns all links, also those whose removal has begun. */
export const listAllLinks = (kit: EndpointKit, sub: string) => linksOf(kit, sub, findAny)

/**
 * Ends a link of a user. Returns it, if there was one.
 *
 * @param isStillAllowed called after the link was marked as removed. With `false`, the link is restored
 */
export async function removeLink(
  kit: EndpointKit,
  sub: string,
  id: string,
  isStillAllowed?: RemovalCheck,
): Promise<StoredLink | undefined> {
  const link = await findAny(kit, id)
  if (link?.sub !== sub) return undefined
  if (isStillAllowed !== undefined) {
    if (link.removing !== undefined) return undefined
    const isSame = (present: StoredLink) => present.sub === sub
    const marked = { key: keyOf(id), schema, isSame, endsAt: link.linkedAt + lifetime }
    if (!(await markRemoval(kit, marked, isStillAllowed))) return undefined
    // A link that is not marked is a new one.
    if ((await findAny(kit, id))?.removing === undefined) return undefined
  }
  await kit.records.delete(keyOf(id))
  await setOf(kit, sub).remove(id)
  return link
}
