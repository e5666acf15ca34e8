// Scopes and clients of the same file: the order of changes, and what is checked together.
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { machine, newService } from './setting.ts'

const directory = sharedDirectory('declared-scopes')

const both = { clients: [machine('batch', { scopes: ['billing'] })], scopes: [{ name: 'billing' }] }

describe('scopes and clients', () => {
  test('a client can have a scope of the same file, and both are removed in the reverse order', async () => {
    const { out, json, write } = newService(directory)
    const added = await out('apply', write(both), '--yes')
    expect(added.indexOf('+ scope billing')).toBeLessThan(added.indexOf('+ client batch'))
    const removed = await out('apply', write({ clients: [], scopes: [] }), '--prune', '--yes')
    expect(removed.indexOf('- client batch')).toBeLessThan(removed.indexOf('- scope billing'))
    const trail: readonly { action: string }[] = await json('audit')
    expect(trail.map(({ action }) => action)).toEqual([
      'scope_removed',
      'client_removed',
      'client_added',
      'scope_added',
    ])
  })

  test('a client can have a scope of the storage', async () => {
    const { out, write } = newService(directory)
    await out('apply', write({ scopes: both.scopes }), '--yes')
    await out('apply', write({ clients: both.clients }), '--yes')
    expect(await out('plan', write(both))).toContain('2 unchanged')
  })

  test('nothing is written if a client of the file has an unknown scope', async () => {
    const { run, out, write } = newService(directory)
    const wrong = { scopes: both.scopes, clients: [machine('batch', { scopes: ['biling'] })] }
    const { code, err } = await run('apply', write(wrong), '--yes')
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining('batch has the scope biling, which is not declared in scopes'),
    })
    expect(JSON.parse(await out('export'))).toEqual({ scopes: [], clients: [], users: [] })
  })

  test.each([
    ['that the file still has', { scopes: [], clients: both.clients }, 'has the scope billing, which is not declared'],
    ['that the file does not have', { scopes: [] }, 'the scope billing cannot be removed: the client batch has it'],
  ])('a scope is not removed from under a client %s', async (_, wanted, sentence) => {
    const { out, run, write } = newService(directory)
    await out('apply', write(both), '--yes')
    const { code, err } = await run('apply', write(wanted), '--prune', '--yes')
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(sentence) })
    expect(JSON.parse(await out('export')).scopes).toHaveLength(1)
  })

  test('a scope keeps its secret, and that it is disabled, if the file does not name them', async () => {
    const { out, write } = newService(directory)
    const kept = { enabled: false, secrets: [{ sha256: sha256Of('billing') }] }
    await out('apply', write({ scopes: [{ name: 'billing', ...kept }] }), '--yes')
    await out('apply', write({ scopes: [{ name: 'billing', claims: ['role'] }] }), '--yes')
    expect(JSON.parse(await out('export', '--with-hashes')).scopes).toEqual([
      { name: 'billing', claims: ['role'], ...kept },
    ])
  })
})
