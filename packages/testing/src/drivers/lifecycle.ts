import type { Proof } from './proof-context.ts'
import { freshKey, isSameValue, recordOf } from './sample-records.ts'

export const lifecycle: readonly Proof[] = [
  {
    // Two providers in one program may share a driver, and each of them opens it.
    name: 'keeps its items when it is opened twice',
    async run(context) {
      const driver = await context.open()
      const key = freshKey()
      await driver.set(key, recordOf(1))
      await driver.reopen()
      if (!isSameValue(await driver.get(key), recordOf(1))) context.fail('an item is gone after a second open()')
    },
  },
  {
    name: 'is disposed of without affecting other drivers',
    async run(context) {
      const [first, second] = [await context.open(), await context.open()]
      const key = freshKey()
      await first.set(freshKey(), recordOf(1))
      await second.set(key, recordOf('other'))
      await first.dispose()
      if (!isSameValue(await second.get(key), recordOf('other'))) {
        context.fail('dispose() of one driver removed an item of another one')
      }
      if (!(await second.insert(freshKey(), recordOf(2)))) context.fail('dispose() of one driver stopped another one')
      await second.dispose()
    },
  },
]
