import { freshKey, recordOf } from './keys.ts'
import type { Proof } from './proof.ts'
import { isSame } from './same-value.ts'

export const lifecycle: readonly Proof[] = [
  {
    // Two providers of one program may stand on one driver, and each opens it.
    name: 'opens twice and keeps what is there',
    async examine(bench) {
      const driver = await bench.open()
      const key = freshKey()
      await driver.set(key, recordOf(1))
      await driver.reopen()
      if (!isSame(await driver.get(key), recordOf(1))) bench.broken('what was written is gone after a second open()')
    },
  },
  {
    name: 'ends when it is disposed of, and no other driver with it',
    async examine(bench) {
      const [one, other] = [await bench.open(), await bench.open()]
      const key = freshKey()
      await one.set(freshKey(), recordOf(1))
      await other.set(key, recordOf('other'))
      await one.dispose()
      if (!isSame(await other.get(key), recordOf('other'))) {
        bench.broken('dispose() of one driver has taken what another one keeps')
      }
      if (!(await other.insert(freshKey(), recordOf(2))))
        bench.broken('dispose() of one driver has stopped another one')
      await other.dispose()
    },
  },
]
