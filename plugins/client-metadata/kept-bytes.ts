import { siteOf } from '@grantry/core'

/**
 * The maximum size in bytes of the copies of one window, for documents with which no user has signed in yet: for one
 * site, and in all.
 */
export const maxKeptOfSite = 262_144
export const maxKept = 8_388_608

/** The size in bytes of the key and the envelope of a record. */
const ofRecord = 200

/** Limits what strangers can make the storage keep. */
export interface KeptBytes {
  /**
   * Reserves the bytes of some records.
   *
   * @param now epoch seconds
   * @returns whether enough bytes were left
   */
  take(clientAddress: string | undefined, texts: readonly string[], now: number): boolean
}

const sizeOf = (text: string): number => new TextEncoder().encode(text).length + ofRecord

/**
 * Counts in this process, as the budget of fetches does. Records of one window can exist until the end of the next one.
 *
 * @param window seconds: as long as the records live
 */
export function createKeptBytes(window: number): KeptBytes {
  let current = Number.NEGATIVE_INFINITY
  let total = 0
  let bySite = new Map<string, number>()

  return {
    take(clientAddress, texts, now) {
      const at = Math.floor(now / window)
      if (at !== current) [current, total, bySite] = [at, 0, new Map()]
      const bytes = texts.reduce((sum, text) => sum + sizeOf(text), 0)
      const site = clientAddress === undefined ? undefined : siteOf(clientAddress)
      const ofSite = (site === undefined ? 0 : (bySite.get(site) ?? 0)) + bytes
      // Checks the site first: a site that is over its limit must not use up the total.
      if (ofSite > maxKeptOfSite || total + bytes > maxKept) return false
      total += bytes
      if (site !== undefined) bySite.set(site, ofSite)
      return true
    },
  }
}
