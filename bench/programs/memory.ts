// Measures the memory of a live reference token. Prints JSON.
import { nodeRuntime } from '@grantry/adapters/node'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { issuer, opaqueClient, paths } from '../operations.ts'
import { newSetting } from '../setting.ts'
import { openGrantry } from './grantry.ts'

const tokens = 50_000
const driver = memoryDriver()
const provider = await openGrantry(newSetting('client-credentials-opaque'), nodeRuntime, driver)
const headers = { authorization: `Basic ${btoa(opaqueClient.join(':'))}` }

async function issue(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' })
    const { status } = await provider.fetch(new Request(issuer + paths.token, { method: 'POST', headers, body }))
    if (status !== 200) throw new Error(`The token endpoint returned ${status}`)
  }
}

/** Collects garbage several times: objects of a request become collectable only after its tick. */
async function settled(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    globalThis.gc?.()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Warm up first, so that compiled code and grown maps do not count. */
await issue(5000)
driver.clear()
const before = await settled()
await issue(tokens)
const bytes = (await settled()) - before
const keys = driver.getKeys()
const text = keys.reduce((sum, key) => sum + key.length + (driver.getItem(key)?.length ?? 0), 0)
process.stdout.write(JSON.stringify({ tokens: keys.length, text, bytes }))
