import type { UserService } from '@grantry/core'

export const [before, after] = ['old password', 'new password'] as const

/** A user service whose check of a password does something between the read of the hash and its end. */
export function slowUsers() {
  let stored: string = before
  let during: (() => Promise<unknown>) | undefined
  const users: UserService = {
    async authenticate({ username, password }) {
      const read = stored
      const act = during
      during = undefined
      await act?.()
      return username === 'alice' && password === read ? { sub: 'alice' } : undefined
    },
  }
  return {
    users,
    /** Changes the password, and ends what the user had, while the next password is checked. */
    changeDuring(revoke: () => Promise<unknown>) {
      stored = before
      during = async () => {
        stored = after
        await revoke()
      }
    },
    /** Ends what the user had while the next password is checked. */
    onlyDuring(revoke: () => Promise<unknown>) {
      during = revoke
    },
  }
}
