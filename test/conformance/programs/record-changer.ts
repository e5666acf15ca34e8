// Adds its numbers to a list that other processes change too: `record-changer.mjs <store> <first> <callers> <changes>`. Each
// caller makes its changes one after the other. Prints what has failed.
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { type FilesystemOptions, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { createTestProvider } from '@grantry/testing'
import * as v from 'valibot'
import { kitOf, kitPlugin } from '../../support/kit-of.ts'
import { driverAt } from '../../support/network-driver.ts'
import type { NetworkStore } from '../../support/network-stores.ts'
import { print, starting } from '../../support/start-concurrently.ts'

const [store = '', ...values] = process.argv.slice(2)
const [first = 0, callers = 0, changes = 0] = values.map(Number)
const place: NetworkStore | ({ readonly driver: 'filesystem' } & FilesystemOptions) = JSON.parse(store)
const timeLimit = 60
const { provider } = await createTestProvider({
  plugins: [clientCredentials(), kitPlugin('lists')],
  storage: place.driver === 'filesystem' ? filesystemDriver(place) : driverAt(place, { operationTimeout: timeLimit }),
  storageTimeLimit: timeLimit,
})
const { records, now } = kitOf(provider, 'lists')
const schema = v.array(v.number())

async function change(caller: number): Promise<readonly string[]> {
  const failures: string[] = []
  for (let number = first + caller * changes; number < first + (caller + 1) * changes; number += 1) {
    await records
      .update('list', schema, (list = []) => ({ value: [...list, number], expiresAt: now() + 3600 }))
      .catch((error) => failures.push(`${number}: ${error} ${error.details?.cause}`))
  }
  return failures
}

await starting()
const failures = await Promise.all(Array.from({ length: callers }, (_, caller) => change(caller)))
await print(JSON.stringify({ failures: failures.flat(), list: await records.get('list', schema) }))
await provider.close()
