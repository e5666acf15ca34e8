// Drivers that do not keep, or let more than one insert.
import { type Broken, over, renaming, turn } from './conformance-broken.ts'

/** Look and write as far apart as with a network in between. Only for markers: the provider's own probe at start would notice. */
const farApart = over((good) => ({
  async insertItem(key, value, options) {
    if ((await good.getItem(key)) !== null) return false
    if (key.startsWith('spent:')) await new Promise((resolve) => setTimeout(resolve, 10))
    await good.setItem(key, value, options)
    return true
  },
}))

export const brokenInserts: readonly Broken[] = [
  {
    fault: 'insertItem() looks first and writes later',
    proof: 'lets one of many racers insert',
    sentence: /of 50 insertItem\(\) of one key at the same time exactly 1 should answer true, and \d+ did/u,
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
    fault: 'insertItem() looks first and writes later, and a provider redeems codes on it',
    proof: 'redeems a code once, of 50 at the same time',
    sentence: /of 50 redemptions of one code exactly 1 should succeed, and \d+ did/u,
    subject: farApart,
  },
  {
    fault: 'insertItem() looks first and writes later, and a provider rotates refresh tokens on it',
    proof: 'rotates a refresh token once, of 50 at the same time',
    sentence: /of 50 redemptions of one refresh token exactly 1 should succeed, and \d+ did/u,
    subject: farApart,
  },
  {
    fault: 'insertItem() looks first and writes later, and a provider answers retries on it',
    proof: 'answers 50 equal refreshes inside the retry window with one successor',
    sentence: /50 equal refreshes should get one successor, and got \d+/u,
    subject: farApart,
  },
  {
    fault: 'insertItem() always says true',
    proof: 'inserts only what is absent',
    sentence: /insertItem\(\) over an item that was set should answer false/u,
    subject: over(() => ({ insertItem: () => true })),
  },
  {
    fault: 'insertItem() never says true',
    proof: 'keeps the keys of the core apart',
    sentence: /should answer true/u,
    subject: over(() => ({ insertItem: () => false })),
  },
  {
    fault: 'insertItem() answers as its client library does',
    proof: 'inserts only what is absent',
    sentence: /must answer true or false and has answered "OK"/u,
    subject: over((good) => ({
      insertItem: (key, value, options) => (good.insertItem(key, value, options) ? 'OK' : null) as unknown as boolean,
    })),
  },
  {
    fault: 'an insert that is refused overwrites',
    proof: 'inserts only what is absent',
    sentence: /should stay as it was when an insert is refused/u,
    subject: over((good) => ({
      async insertItem(key, value, options) {
        const created = await good.insertItem(key, value, options)
        if (!created) await good.setItem(key, value, options)
        return created
      },
    })),
  },
  {
    fault: 'one hash is one item, whatever the kind',
    proof: 'keeps the keys of the core apart',
    sentence: /only other kinds of the same hash are there/u,
    subject: renaming((key) => key.slice(key.lastIndexOf(':') + 1)),
  },
  {
    fault: 'an absent item is an empty string',
    proof: 'answers null or undefined for what is absent, and removes it without failing',
    sentence: /should be null and was ""/u,
    subject: over((good) => ({ getItem: async (key) => (await good.getItem(key)) ?? '' })),
  },
  {
    fault: 'removing what is absent fails',
    proof: 'answers null or undefined for what is absent, and removes it without failing',
    sentence: /removeItem\(.*\) failed: ENOENT/u,
    subject: over((good) => ({
      async removeItem(key, options) {
        if ((await good.getItem(key)) === null) throw new Error('ENOENT')
        await good.removeItem(key, options)
      },
    })),
  },
  {
    fault: 'forgets to remove',
    proof: 'keeps, replaces and removes an item',
    sentence: /after removeItem\(\) getItem\(\) should give nothing/u,
    subject: over(() => ({ removeItem() {} })),
  },
  {
    fault: 'what was written is seen later',
    proof: 'keeps, replaces and removes an item',
    sentence: /after setItem\(\).* getItem\(\) should give/u,
    subject: over((good) => ({
      setItem: (key, value, options) => void setTimeout(() => good.setItem(key, value, options), 30),
    })),
  },
]
