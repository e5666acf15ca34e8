// Drivers that lose items or let more than one insert win.

import { pause } from '../../support/pause.ts'
import { type Broken, over, renaming, turn } from './broken.ts'

/**
 * Delays the write after the check, like a network. Only for markers: the probe of the provider at start would detect
 * it.
 */
const farApart = over((good) => ({
  async insertItem(key, value, options) {
    if ((await good.getItem(key)) !== null) return false
    if (key.startsWith('spent:')) await pause(10)
    await good.setItem(key, value, options)
    return true
  },
}))

export const brokenInserts: readonly Broken[] = [
  {
    fault: 'insertItem() reads first and writes later',
    proof: 'lets exactly one of many concurrent inserts win',
    sentence: /of 50 concurrent calls of insertItem\(\) with one key, exactly 1 should return true, but \d+ did/u,
    subject: over((good) => ({
      async insertItem(key, value, options) {
        if ((await good.getItem(key)) !== null) return false
        await turn()
        await good.setItem(key, value, options)
        return true
      },
    })),
  },
  {
    fault: 'insertItem() reads first and writes later, and a provider redeems codes on it',
    proof: 'redeems a code once in 50 concurrent requests',
    sentence: /of 50 redemptions of one code, exactly 1 should succeed, but \d+ did/u,
    subject: farApart,
  },
  {
    fault: 'insertItem() reads first and writes later, and a provider rotates refresh tokens on it',
    proof: 'rotates a refresh token once in 50 concurrent requests',
    sentence: /of 50 redemptions of one refresh token, exactly 1 should succeed, but \d+ did/u,
    subject: farApart,
  },
  {
    fault: 'insertItem() reads first and writes later, and a provider answers retries on it',
    proof: 'returns one successor for 50 equal refreshes inside the retry window',
    sentence: /50 equal refreshes should get one successor, but got \d+/u,
    subject: farApart,
  },
  {
    fault: 'insertItem() always returns true',
    proof: 'inserts only if the item is absent',
    sentence: /insertItem\(\) over an item that was set should return false/u,
    subject: over(() => ({ insertItem: () => true })),
  },
  {
    fault: 'insertItem() never returns true',
    proof: 'stores the keys of the core separately',
    sentence: /should return true/u,
    subject: over(() => ({ insertItem: () => false })),
  },
  {
    fault: 'insertItem() returns the result of its client library',
    proof: 'inserts only if the item is absent',
    sentence: /must return true or false, but returned "OK"/u,
    subject: over((good) => ({
      insertItem: (key, value, options) => (good.insertItem(key, value, options) ? 'OK' : null) as unknown as boolean,
    })),
  },
  {
    fault: 'a refused insert overwrites the item',
    proof: 'inserts only if the item is absent',
    sentence: /a refused insert should not change an item that was set/u,
    subject: over((good) => ({
      async insertItem(key, value, options) {
        const created = await good.insertItem(key, value, options)
        if (!created) await good.setItem(key, value, options)
        return created
      },
    })),
  },
  {
    fault: 'different kinds of one hash share an item',
    proof: 'stores the keys of the core separately',
    sentence: /only other kinds of the same hash exist/u,
    subject: renaming((key) => key.slice(key.lastIndexOf(':') + 1)),
  },
  {
    fault: 'an absent item is an empty string',
    proof: 'returns null or undefined for an absent item, and removes it without an error',
    sentence: /should return null, but returned ""/u,
    subject: over((good) => ({ getItem: async (key) => (await good.getItem(key)) ?? '' })),
  },
  {
    fault: 'removing what is absent fails',
    proof: 'returns null or undefined for an absent item, and removes it without an error',
    sentence: /removeItem\(.*\) failed: ENOENT/u,
    subject: over((good) => ({
      async removeItem(key, options) {
        if ((await good.getItem(key)) === null) throw new Error('ENOENT')
        await good.removeItem(key, options)
      },
    })),
  },
  {
    fault: 'removeItem() does nothing',
    proof: 'stores, replaces and removes an item',
    sentence: /after removeItem\(\) getItem\(\) should return nothing/u,
    subject: over(() => ({ removeItem() {} })),
  },
  {
    fault: 'a write becomes visible late',
    proof: 'stores, replaces and removes an item',
    sentence: /after setItem\(\).* getItem\(\) should return/u,
    subject: over((good) => ({
      setItem: (key, value, options) => void pause(30).then(() => good.setItem(key, value, options)),
    })),
  },
]
