// The console is an optional package of the server: one sentence names it if it is configured and not installed.
import { expect, test } from 'vitest'
import { openConsole } from '../../packages/server/src/provider/console.ts'

const failing = (code: string) => async () => {
  throw Object.assign(new Error("Cannot find package '@grantry/console'"), { code })
}

test('a console that is not installed is an error that says what to do', async () => {
  await expect(openConsole(false, failing('ERR_MODULE_NOT_FOUND'))).rejects.toThrow(
    new TypeError('console: @grantry/console is not installed; install it, or set console to false'),
  )
})

test('another failure of the package is not hidden', async () => {
  await expect(openConsole(false, failing('ERR_OTHER'))).rejects.toThrow('Cannot find package')
})
