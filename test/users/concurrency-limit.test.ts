import { createConcurrencyLimit } from '@grantry/users/password-hash'
import { describe, expect, test } from 'vitest'

describe('the limiter', () => {
  test('limits running and waiting tasks, refuses one more with 503, and recovers', async () => {
    const limited = createConcurrencyLimit({ concurrent: 2, queued: 2 })
    let running = 0
    let most = 0
    const release: (() => void)[] = []
    const task = () =>
      limited(async () => {
        running += 1
        most = Math.max(most, running)
        await new Promise<void>((resolve) => release.push(resolve))
        running -= 1
      })
    const four = [task(), task(), task(), task()]
    await expect(task()).rejects.toMatchObject({ code: 'temporarily_unavailable' })
    let ended = false
    const all = Promise.all(four).then(() => {
      ended = true
    })
    while (!ended) {
      release.splice(0).forEach((go) => {
        go()
      })
      await new Promise((resolve) => setImmediate(resolve))
    }
    await all
    expect(most).toBe(2)
    const failing = limited(async () => Promise.reject(new Error('no')))
    await expect(failing).rejects.toThrow('no')
    await expect(limited(async () => 'again')).resolves.toBe('again')
  })
})
