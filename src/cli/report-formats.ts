/** The forms in which problems of definitions can be reported. */
export const REPORT_FORMATS = ['pretty', 'json', 'github', 'sarif'] as const;
