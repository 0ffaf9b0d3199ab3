/** The Gatehouse logo: a gate with its portcullis. */
export function Logo() {
  return (
    <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
      <rect width="16" height="16" rx="3.5" fill="var(--primary)" />
      <path
        d="M4 13V7.5a4 4 0 0 1 8 0V13M8 6.8V13M4 10h8"
        fill="none"
        stroke="#ffffff"
        strokeWidth="1.4"
        strokeLinecap="round"
      />
    </svg>
  )
}
