import type { Handler } from '../http/connection.ts'

/** What serves the requests of one tenant. */
export interface TenantServing {
  readonly issuer: string
  readonly handle: Handler
  /** Runs the tasks of its plugins. Never rejects. */
  runTasks(): Promise<void>
  /** Releases what only this tenant uses. Called once, when its last request has ended. */
  close(): Promise<void>
}

/** Milliseconds after which a replaced tenant is closed although a request has not ended. */
const patience = 60_000

/** An open tenant. Requests hold it open. */
export interface Lease<S extends TenantServing> {
  readonly serving: S
  readonly isRetired: boolean
  hold(): void
  release(): void
  /** Closes it when its last request has ended. Never rejects. */
  retire(): Promise<void>
}

export function createLease<S extends TenantServing>(serving: S, onError: (cause: unknown) => void): Lease<S> {
  let requests = 0
  let retired: Promise<void> | undefined
  let lastEnded: (() => void) | undefined

  async function close(): Promise<void> {
    if (requests > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patience)
        // Node.js and Bun. A request that hangs must not keep the process alive.
        ;(timer as { unref?(): void }).unref?.()
        lastEnded = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    try {
      await serving.close()
    } catch (cause) {
      onError(cause)
    }
  }

  return {
    serving,
    get isRetired() {
      return retired !== undefined
    },
    hold() {
      requests += 1
    },
    release() {
      requests -= 1
      if (requests === 0) lastEnded?.()
    },
    retire() {
      retired ??= close()
      return retired
    },
  }
}
