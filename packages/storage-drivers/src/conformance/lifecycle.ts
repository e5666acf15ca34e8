import { freshKey, recordOf } from './keys.ts'
import type { Proof } from './proof.ts'
import { isSame } from './same-value.ts'

export const lifecycle: readonly Proof[] = [
  {
    // Two providers in one program may share a driver, and each of them opens it.
    name: 'keeps its items when it is opened twice',
    async examine(bench) {
      const driver = await bench.open()
      const key = freshKey()
      await driver.set(key, recordOf(1))
      await driver.reopen()
      if (!isSame(await driver.get(key), recordOf(1))) bench.broken('an item is gone after a second open()')
    },
  },
  {
    name: 'is disposed of without affecting other drivers',
    async examine(bench) {
      const [one, other] = [await bench.open(), await bench.open()]
      const key = freshKey()
      await one.set(freshKey(), recordOf(1))
      await other.set(key, recordOf('other'))
      await one.dispose()
      if (!isSame(await other.get(key), recordOf('other'))) {
        bench.broken('dispose() of one driver removed an item of another one')
      }
      if (!(await other.insert(freshKey(), recordOf(2)))) bench.broken('dispose() of one driver stopped another one')
      await other.dispose()
    },
  },
]
