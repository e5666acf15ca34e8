// A document that its owner has removed for good, and then the host fails: the copy of another process must not revive the client.
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { clientId, createHosts, document, setUp } from './parties.ts'

test('the copy of a removed document is gone, also for a process that knows nothing of the removal', async () => {
  const hosts = createHosts()
  const storage = memoryDriver()
  const f = await setUp(hosts, {}, { storage })
  const runtime = { now: f.clock.now }
  expect((await f.authorize()).code).toBeDefined()
  // Longer than the document is fresh, and shorter than its copy lives.
  f.clock.advance(400)
  hosts.hosted.set(clientId, { body: '', status: 503 })
  expect((await (await setUp(hosts, {}, { storage, runtime })).authorize()).code).toBeDefined()
  f.clock.advance(60)
  hosts.hosted.set(clientId, { body: '', status: 410 })
  expect((await f.authorize()).code).toBeUndefined()
  f.clock.advance(60)
  hosts.hosted.set(clientId, { body: '', status: 503 })
  expect((await (await setUp(hosts, {}, { storage, runtime })).authorize()).code).toBeUndefined()
  hosts.hosted.set(clientId, { body: document })
  f.clock.advance(60)
  expect((await f.authorize()).code).toBeDefined()
})
