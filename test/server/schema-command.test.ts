// `grantry schema`: the JSON Schema of a configuration whose plugins are of a third party.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { configurationJsonSchema } from '../../scripts/configuration-schema.ts'
import { root } from '../docs/code-blocks.ts'
import { newDirectory } from '../support/server-program.ts'
import { printed } from './printed.ts'

const plugin = `
import { defineEndpoint, defineFields, definePlugin, member } from '${root}packages/core/src/index.ts'
import * as v from '${createRequire(import.meta.url).resolve('valibot')}'
export default definePlugin('x-color', [
  defineFields({
    client: {
      xColor: member(v.optional(v.pipe(v.string(), v.regex(/^#[0-9a-f]{6}$/u))), {
        title: 'Color', text: 'The color of its buttons.', group: 'pages',
      }),
      xTiers: v.optional(v.array(v.picklist(['gold', 'basic']))),
    },
    scope: { xOwner: member(v.optional(v.string()), { title: 'Owner', text: 'Who answers.', group: 'application' }) },
  }),
  defineEndpoint({ name: 'xPalette', path: '/palette', methods: ['GET'], caller: 'anyone', handle: () => ({ status: 204 }) }),
])
`
const minimal = {
  issuer: 'https://id.example.com',
  clients: [],
  storage: { driver: 'memory' },
  plugins: ['./color.ts'],
}
const client = { clientId: 'web' }

function written(configuration: object = minimal) {
  const directory = newDirectory()
  const config = join(directory, 'grantry.config.json')
  const base = join(directory, 'base.json')
  writeFileSync(join(directory, 'color.ts'), plugin)
  writeFileSync(config, JSON.stringify(configuration))
  writeFileSync(base, JSON.stringify(configurationJsonSchema()))
  return { config, base, directory }
}

/** Runs the command, and returns the schema and a function that lists the violations of a configuration. */
async function generated(configuration?: object) {
  const { config, base } = written(configuration)
  const { code, out, err } = await printed('schema', '--config', config, '--base', base)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const schema = JSON.parse(out)
  const validate = new Ajv({ strict: true, strictTypes: false, allErrors: true }).compile(schema)
  const faults = (more: object) => {
    validate({ ...minimal, ...more })
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
  return { schema, faults }
}

describe('grantry schema', () => {
  test('completes the members that plugins of a third party add to clients and scopes', async () => {
    const { schema } = await generated()
    const { clients, scopes } = schema.properties
    expect(clients.items.properties).toMatchObject({
      xColor: { title: 'Color', description: 'The color of its buttons.' },
      xTiers: { type: 'array' },
      // Those of the server keep what the published schema has.
      clientId: { anyOf: expect.anything() },
    })
    expect(scopes.items.properties.xOwner).toMatchObject({ title: 'Owner', description: 'Who answers.' })
  })

  test.each<[string, object, readonly string[]]>([
    ['a member', { clients: [{ ...client, xColor: '#ff0000', xTiers: ['gold'] }] }, []],
    ['a variable', { clients: [{ ...client, xColor: `$\{COLOR}`, xTiers: [`$\{TIER}`] }] }, []],
    ['a member of a scope', { scopes: [{ name: 'api1', xOwner: 'sales' }] }, []],
    [
      'a member of a client of a tenant',
      { tenants: { list: [{ name: 'a', clients: [{ ...client, xTiers: [] }] }] } },
      [],
    ],
    ['an endpoint', { endpoints: { xPalette: false, token: '/token' } }, []],
    ['a member of a plugin of the server', { clients: [{ ...client, clientColor: '#ff0000' }] }, []],
    ['a wrong value', { clients: [{ ...client, xTiers: 1 }] }, ['/clients/0/xTiers must be array']],
    [
      'an unknown member',
      { clients: [{ ...client, xColour: '#ff0000' }] },
      ['/clients/0 must NOT have additional properties'],
    ],
    ['an unknown endpoint', { endpoints: { xPalete: false } }, ['/endpoints must NOT have additional properties']],
  ])('judges %s', async (_what, more, violations) => {
    const { faults } = await generated()
    expect(faults(more)).toEqual(violations)
  })

  test('needs no valid client, and reads no storage', async () => {
    const storage = { driver: 'redis', url: 'redis://127.0.0.1:1' }
    const { faults } = await generated({ ...minimal, storage, administration: true, clients: [{ cliendId: 1 }] })
    expect(faults({ clients: [{ ...client, xColor: '#ff0000' }] })).toEqual([])
  })

  test('without its base, says where it is', async () => {
    const { config, directory } = written()
    const { code, out, err } = await printed('schema', '--config', config, '--base', join(directory, 'missing.json'))
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/missing\.json: cannot be read.*pass the published schema with --base, .*unpkg\.com/u)
  })

  test('quotes nothing of a file that is not the schema', async () => {
    const { config, base } = written()
    writeFileSync(base, '-----BEGIN SECRET')
    const { code, out, err } = await printed('schema', '--config', config, '--base', base)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/base\.json: cannot be read \(line 1, column 1: .*\); pass the published schema/u)
    expect(err).not.toContain('SECRET')
  })
})
