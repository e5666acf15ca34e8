/** What a driver of the controls does wrong. */
export type Fault =
  | 'forgets what is spent'
  | 'inserts in two steps'
  | 'loses revocations'
  | 'answers before it has written'
  | 'cuts records'
