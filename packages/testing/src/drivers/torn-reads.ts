import type { Proof } from './proof-context.ts'
import { abbreviate, freshKey, isSameValue, recordOf } from './sample-records.ts'
import { yieldToOthers } from './timing.ts'

/** Length of a value that no store writes in one piece, in characters. */
const length = 200_000

/** Large values that differ in every character. */
export const largeValues: readonly string[] = ['a', 'b', 'c'].map((letter) => recordOf(letter.repeat(length)))

// Compare the text first: parsing this much takes longer than reading it.
export const isWhole = (returned: unknown): boolean =>
  largeValues.some((value) => returned === value) || largeValues.some((value) => isSameValue(returned, value))

export const tornReads: readonly Proof[] = [
  {
    name: 'never returns a partial value during a replacement',
    async run(context) {
      const driver = await context.open()
      const key = freshKey()
      await driver.set(key, largeValues[0] as string)
      let writing = true
      const write = async (): Promise<void> => {
        for (let index = 0; index < 60 * context.rounds; index += 1) {
          await driver.set(key, largeValues[index % largeValues.length] as string)
        }
        writing = false
      }
      const read = async (): Promise<void> => {
        // Until all values are written, and at least once.
        do {
          const begun = performance.now()
          const returned = await driver.get(key)
          if (!isWhole(returned)) {
            context.fail(
              `while a value is replaced, getItem() should return the old or the new one, but returned ${abbreviate(returned)}`,
            )
            return
          }
          await yieldToOthers(begun)
        } while (writing)
      }
      const writer = write().finally(() => {
        writing = false
      })
      await Promise.all([writer, read()])
    },
  },
]
