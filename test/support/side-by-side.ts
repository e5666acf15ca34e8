import { describe } from 'vitest'

/**
 * Like `describe`, for suites that wait for processes: those of a file run side by side, the tests of each one after the
 * other. Their tests must not call `expect.poll`, which finds its test through a global variable.
 */
export function describeSideBySide(name: string, define: () => void): void {
  describe.concurrent(name, () => {
    describe.sequential('one after the other', define)
  })
}
