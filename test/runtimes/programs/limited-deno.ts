import { serve } from '@grantry/adapters/deno'
import { announce, limited, limits, onError } from './limited.ts'

announce(await serve(await limited(), { requestTimeout: limits.requestTimeout, onError }))
