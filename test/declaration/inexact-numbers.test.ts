// Numbers that JSON does not keep exactly are refused where administrators write them (test/attacks/inexact-numbers.test.ts).
import { expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { newService } from './setting.ts'

const directory = sharedDirectory('inexact-numbers')

test.each(['9007199254740993', '-9007199254740993', '12345678901234567890', '1e400', '1e16', '1e-400', '-0.1E-400'])(
  'files and commands refuse %s',
  async (number) => {
    const { run, write, json } = newService(directory)
    const user = `{ "sub": "u-1", "username": "ann", "claims": { "employee": ${number} } }`
    const declared = await run('apply', write(`{ "users": [${user}] }`), '--yes')
    const commented = await run('apply', write(`{ /* "1e-400" */ "users": [${user}], }`), '--yes')
    const fromFile = await run(
      'clients',
      'add',
      'one',
      '--file',
      write(`{ "accessTokenLifetime": ${number} }`, 'm.json'),
    )
    const set = await run('clients', 'add', 'two', '--set', `accessTokenLifetime=${number}`)
    for (const { code, err } of [declared, commented, fromFile, set]) {
      expect(code).toBe(1)
      expect(err).toContain('write it as text')
    }
    expect([(await json('users', 'list')).users, await json('clients', 'list')]).toEqual([[], []])
  },
)
