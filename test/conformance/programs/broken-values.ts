// Drivers that tear or change values, or confuse keys.
import { type Broken, over, renaming, turn } from './broken.ts'

const hostileKeys = 'stores every hostile key separately or rejects it'
const hostileValues = 'returns every value unchanged'
const torn = 'never returns a partial value during a replacement'

export const brokenValues: readonly Broken[] = [
  {
    fault: 'it writes a value in two pieces',
    proof: torn,
    sentence: /getItem\(\) should return the old or the new one, but returned/u,
    subject: over((good) => ({
      async setItem(key, value, options) {
        await good.setItem(key, value.slice(0, value.length / 2), options)
        await turn()
        await good.setItem(key, value, options)
      },
    })),
  },
  {
    fault: 'it removes a value before it writes the next one',
    proof: torn,
    sentence: /getItem\(\) should return the old or the new one, but returned nothing/u,
    subject: over((good) => ({
      async setItem(key, value, options) {
        await good.removeItem(key, {})
        await turn()
        await good.setItem(key, value, options)
      },
    })),
  },
  {
    fault: 'it folds upper and lower case',
    proof: hostileKeys,
    sentence: /-UPPER-LOWER" should find nothing|should be rejected or have its own value/u,
    subject: renaming((key) => key.toLowerCase()),
  },
  {
    fault: 'it cuts keys at a question mark, as unstorage does',
    proof: hostileKeys,
    sentence: /\?ttl=1"\) should find nothing, but returned the value/u,
    subject: renaming((key) => key.split('?')[0] ?? ''),
  },
  {
    fault: 'it returns an Error as the value, as the file driver of unstorage does',
    proof: hostileKeys,
    sentence: /returned an Error as the value instead of rejecting: ENOTDIR/u,
    subject: over((good) => ({
      getItem: (key) => (key.includes('\0') ? new Error('ENOTDIR') : good.getItem(key)),
    })),
  },
  {
    fault: 'it stores one byte per character',
    proof: hostileValues,
    sentence: /a record of .* should come back/u,
    subject: over((good) => ({
      setItem: (key, value, options) => good.setItem(key, Buffer.from(value, 'latin1').toString('latin1'), options),
    })),
  },
  {
    fault: 'it truncates values to 64 KB',
    proof: hostileValues,
    sentence: /a record of .* should come back/u,
    subject: over((good) => ({
      setItem: (key, value, options) => good.setItem(key, value.slice(0, 65_536), options),
    })),
  },
  {
    fault: 'it treats a value that it cannot parse as absent',
    proof: 'grants nothing for foreign values',
    sentence: /"garbage" under a spent key should count as spent, but the response was 200/u,
    subject: over((good) => {
      const read = async (key: string) => {
        try {
          return JSON.parse(String(await good.getItem(key)))
        } catch {
          return null
        }
      }
      return {
        getItem: read,
        async insertItem(key, value, options) {
          if ((await good.getItem(key)) !== null && (await read(key)) === null) good.removeItem(key, options)
          return good.insertItem(key, value, options)
        },
      }
    }),
  },
]
