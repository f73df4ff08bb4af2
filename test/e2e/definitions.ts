/** A small real program against a provider whose address comes from the environment (`PROVIDER_URL`). */
export const RESUME_FILES = {
  'clients.svc': `
client<llm> Fast {
  provider openai
  options {
    model gpt-4o-mini
    base_url env.PROVIDER_URL
    api_key env.OPENAI_API_KEY
    temperature 0.2
  }
}

client<llm> Generic {
  provider openai-generic
  options {
    model local
    base_url env.PROVIDER_URL
  }
}
`,
  'resume.svc': `
enum Seniority {
  JUNIOR @description("up to two years")
  SENIOR @alias("experienced")
}

class Job {
  title string
  years int?
}

class Resume {
  name string
  email string? @description("as written")
  seniority Seniority
  jobs Job[]
  scores map<string, float>
}

function ExtractResume(text: string) -> Resume {
  client Fast
  prompt #"
    {{ _.role("system") }}
    Extract the resume.
    {{ ctx.output_format }}
    {{ _.role("user") }}
    {{ text }}
  "#
}

function Shout(text: string, times: int) -> string {
  client Generic
  prompt #"
    Say {{ text | upper }} {{ times }} times.
  "#
}
`,
} as const;

/** The reply of a chatty model: prose, and a fence with a comment and a trailing comma inside. */
export const RESUME_REPLY = [
  'Sure! Here is the resume you asked for:',
  '```json',
  '{',
  '  "name": "Ada Lovelace",',
  '  "email": null, // not given',
  '  "seniority": "experienced",',
  '  "jobs": [{"title": "Analyst", "years": 3}, {"title": "Author"}],',
  '  "scores": {"math": 10, "poetry": 7.5},',
  '}',
  '```',
  'Let me know if you need anything else!',
].join('\n');

export const RESUME_VALUE = {
  name: 'Ada Lovelace',
  email: null,
  seniority: 'SENIOR',
  jobs: [
    { title: 'Analyst', years: 3 },
    { title: 'Author', years: null },
  ],
  scores: { math: 10, poetry: 7.5 },
};
