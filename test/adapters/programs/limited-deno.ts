import { serve } from '@grantry/adapters/deno'
import { announce, limited, limits } from './limited.ts'

announce(await serve(await limited(), { requestTimeout: limits.requestTimeout }))
