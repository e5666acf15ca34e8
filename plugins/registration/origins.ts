import type { Kit } from '@grantry/core'
import * as v from 'valibot'
import { keptRecord } from '../shared/kept-record.ts'
import { recordSet } from '../shared/record-set.ts'

// A preflight names no client, only the origin of a page: one record tells whether a registered client has it. Which clients
// have it is in a list beside it, for the end of the last one.

const originKey = (origin: string): string => `origin:${origin}`

/** An origin is allowed until the last of its clients ends. */
const originSchema = v.object({
  /** Epoch seconds. */
  until: v.number(),
  /** Whether all its clients are in the list. Absent in records of earlier versions. */
  listed: v.optional(v.boolean()),
})

/** Clients of one origin that are listed. With more, it ends by its time only. */
const maxListed = 8

const clientsOf = (origin: string, kit: Kit) => recordSet(kit, `clients of ${origin}`, maxListed, keptRecord)

/** Allows an origin. Never shortens its time: another client may need the origin for longer. */
async function allow(origin: string, isListed: boolean, until: number, { records }: Kit): Promise<void> {
  const key = originKey(origin)
  if (await records.insert(key, { until, listed: isListed }, until, keptRecord)) return
  const known = await records.get(key, originSchema)
  const next = {
    until: Math.max(known?.until ?? until, until),
    listed: isListed && (known === undefined || known.listed === true),
  }
  if (known === undefined || known.until < next.until || known.listed !== next.listed) {
    await records.put(key, next, next.until, keptRecord)
  }
}

export async function allowOrigins(clientId: string, origins: readonly string[], until: number, kit: Kit) {
  await Promise.all(
    origins.map(async (origin) => {
      const known = await kit.records.get(originKey(origin), originSchema)
      const isCrowded = known !== undefined && known.listed !== true
      // Adds the client to the list first: a concurrent call that removes the last other client then finds it there, or
      // has already removed the record of the origin.
      const isListed = !isCrowded && (await clientsOf(origin, kit).add(clientId, until))
      if (!isCrowded || known.until < until) await allow(origin, isListed, until, kit)
    }),
  )
}

/** Ends origins that a client no longer has, or that a removed client had, unless another client has them. */
export async function forgetOrigins(clientId: string, origins: readonly string[], kit: Kit): Promise<void> {
  await Promise.all(
    origins.map(async (origin) => {
      const clients = clientsOf(origin, kit)
      await clients.remove(clientId)
      const known = await kit.records.get(originKey(origin), originSchema)
      if (known?.listed !== true || (await clients.list()).length > 0) return
      await kit.records.delete(originKey(origin))
      if ((await clients.list()).length > 0) await allow(origin, true, known.until, kit)
    }),
  )
}

export const isOriginAllowed = async (origin: string, kit: Kit): Promise<boolean> =>
  (await kit.records.get(originKey(origin), originSchema)) !== undefined
