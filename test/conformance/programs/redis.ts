// Module for child processes of the conformance kit: the Redis driver with the options in the query.
import type { AtomicDriver } from '@grantry/core'
import { redisDriver } from '@grantry/storage-drivers/redis'

export const open = (): AtomicDriver =>
  redisDriver(JSON.parse(new URL(import.meta.url).searchParams.get('options') ?? '{}'))
