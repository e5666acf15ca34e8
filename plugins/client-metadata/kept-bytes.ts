import { siteOf } from '@grantry/core'

/** Bytes of copies in a window, of documents that no user has signed in with yet: of one site, and in all. */
export const maxKeptOfSite = 262_144
export const maxKept = 8_388_608

/** Bytes that a record has besides what it keeps: its key, and its envelope. */
const ofRecord = 200

/** Limits what strangers can make the storage keep. */
export interface KeptBytes {
  /**
   * Takes the bytes of some records.
   *
   * @param now epoch seconds
   * @returns whether there were as many left
   */
  take(clientAddress: string | undefined, texts: readonly string[], now: number): boolean
}

const sizeOf = (text: string): number => new TextEncoder().encode(text).length + ofRecord

/**
 * Counts in this process, as the budget of fetches does. What was taken in one window can last until the end of the next one.
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
      // First: a site that is over its limit must not use up the total.
      if (ofSite > maxKeptOfSite || total + bytes > maxKept) return false
      total += bytes
      if (site !== undefined) bySite.set(site, ofSite)
      return true
    },
  }
}
