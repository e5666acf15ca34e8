import { serve } from '@grantry/adapters/bun'
import { announce, limited, limits, onError } from './limited.ts'

announce(await serve(await limited(), { requestTimeout: limits.requestTimeout, onError }))
